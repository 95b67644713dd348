"""Models of sound."""
import torch

from zoo.inputs import ids, sound
from zoo.registry import add
from zoo.sizes import BART, BATCH, SPEECH

for name in ("Wav2Vec2", "Hubert", "WavLM", "UniSpeech", "SEW", "Data2VecAudio"):
    more = {
        "WavLM": dict(num_buckets=8, max_bucket_distance=16),
        "Data2VecAudio": dict(conv_pos_kernel_size=5, num_conv_pos_embeddings=2),
    }.get(name, {})
    add("audio", f"{name}ForCTC", (f"{name}Config", dict(SPEECH, **more)), sound())
add("audio", "ASTForAudioClassification", ("ASTConfig", dict(hidden_size=32, num_hidden_layers=2,
    num_attention_heads=4, intermediate_size=64, patch_size=4, frequency_stride=4, time_stride=4, max_length=24,
    num_mel_bins=16, num_labels=5)),
    lambda: dict(input_values=torch.randn(BATCH, 24, 16), labels=torch.randint(0, 5, (BATCH,))))
add("audio", "WhisperForConditionalGeneration", ("WhisperConfig", dict(BART, num_mel_bins=16, max_source_positions=20,
    max_target_positions=32, suppress_tokens=None, begin_suppress_tokens=None)),
    lambda: dict(input_features=torch.randn(BATCH, 16, 40), labels=ids(7)), generates=True)
add("audio", "Speech2TextForConditionalGeneration", ("Speech2TextConfig", dict(BART, input_feat_per_channel=16,
    conv_channels=16, max_source_positions=64, max_target_positions=32)),
    lambda: dict(input_features=torch.randn(BATCH, 40, 16), labels=ids(7)), generates=True)
add("audio", "EncodecModel", ("EncodecConfig", dict(num_filters=4, hidden_size=16, codebook_dim=16, codebook_size=16,
    upsampling_ratios=[4, 2], num_lstm_layers=1, sampling_rate=8000, target_bandwidths=[4.0])),
    lambda: dict(input_values=torch.randn(BATCH, 1, 400)))
