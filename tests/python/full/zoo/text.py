"""Models of text: encoders, decoders, encoder-decoders."""
from zoo.inputs import decoder, plain_text, text, translation
from zoo.registry import add
from zoo.sizes import BART, BASE, GPT2, GQA, LENGTH, T5, VOCAB

# Encoders

for name, more in {
    "Bert": {}, "Roberta": {}, "Electra": dict(embedding_size=32), "Albert": dict(embedding_size=16),
    "MPNet": {}, "RoFormer": {}, "MegatronBert": {}, "RemBert":
    dict(input_embedding_size=16, output_embedding_size=16),
    "ModernBert": dict(global_attn_every_n_layers=2, local_attention=4, cls_token_id=1, sep_token_id=2),
    "ConvBert": dict(embedding_size=32, head_ratio=2, conv_kernel_size=3), "DebertaV2":
    dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8), "XLMRobertaXL": {},
    "SqueezeBert": dict(embedding_size=32), "Esm": dict(mask_token_id=3, position_embedding_type="rotary"),
    "Longformer": dict(attention_window=4, sep_token_id=2), "Ernie": {},
    "Xmod": dict(languages=["en"], default_language="en"),
}.items():
    add("encoder", f"{name}ForMaskedLM", (f"{name}Config", dict(BASE, **more)), text)
add("encoder", "DistilBertForMaskedLM", ("DistilBertConfig", dict(vocab_size=VOCAB, dim=32, n_layers=2, n_heads=4,
    hidden_dim=64, max_position_embeddings=64, pad_token_id=0)), text)
add("encoder", "NystromformerForMaskedLM", ("NystromformerConfig", dict(BASE, num_landmarks=3,
    segment_means_seq_len=LENGTH)), plain_text)
add("encoder", "FNetForMaskedLM", ("FNetConfig", dict(BASE, tpu_short_seq_length=16)), plain_text)
add("encoder", "XLNetLMHeadModel", ("XLNetConfig", dict(vocab_size=VOCAB, d_model=32, n_layer=2, n_head=4, d_inner=64,
    pad_token_id=0)), text)

# Decoders

for name, more in {
    "Llama": {}, "Mistral": dict(sliding_window=4), "Qwen2": {}, "Qwen3": {}, "Gemma": {},
    "Gemma2": dict(sliding_window=4), "Gemma3": dict(sliding_window=4), "Phi": {}, "Phi3": {}, "StableLm": {},
    "Starcoder2": {}, "Olmo2": {}, "Cohere": {}, "Granite": {}, "Glm4": {}, "SmolLM3": {}, "Nemotron": {},
    "Mixtral": dict(num_local_experts=4, num_experts_per_tok=2),
    "Qwen2Moe": dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32,
                     shared_expert_intermediate_size=32),
    "Olmoe": dict(num_experts=4, num_experts_per_tok=2),
    "GptOss": dict(num_local_experts=4, num_experts_per_tok=2, sliding_window=4),
    "DeepseekV3": dict(num_key_value_heads=4, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1,
                       moe_intermediate_size=32, kv_lora_rank=16, q_lora_rank=16, qk_rope_head_dim=8,
                       qk_nope_head_dim=8,
                       v_head_dim=8, first_k_dense_replace=1),
}.items():
    config = "Gemma3TextConfig" if name == "Gemma3" else f"{name}Config"
    add("decoder", f"{name}ForCausalLM", (config, dict(GQA, **more)), decoder, generates=True)
add("decoder", "GPT2LMHeadModel", ("GPT2Config", GPT2), decoder, generates=True)
add("decoder", "GPTNeoXForCausalLM", ("GPTNeoXConfig", BASE), decoder, generates=True)
add("decoder", "GPTNeoForCausalLM", ("GPTNeoConfig", dict(BASE, num_layers=2, num_heads=4, window_size=4,
    attention_types=[[["global", "local"], 1]])), decoder, generates=True)
add("decoder", "GPTJForCausalLM", ("GPTJConfig", dict(GPT2, rotary_dim=4)), decoder, generates=True)
add("decoder", "CodeGenForCausalLM", ("CodeGenConfig", dict(GPT2, rotary_dim=4)), decoder, generates=True)
add("decoder", "GPTBigCodeForCausalLM", ("GPTBigCodeConfig", GPT2), decoder, generates=True)
add("decoder", "BloomForCausalLM", ("BloomConfig", dict(BASE, n_layer=2, n_head=4)), decoder, generates=True)
add("decoder", "FalconForCausalLM", ("FalconConfig", BASE), decoder, generates=True)
add("decoder", "OPTForCausalLM", ("OPTConfig", dict(BASE, ffn_dim=64, word_embed_proj_dim=32)), decoder, generates=True)
add("decoder", "BioGptForCausalLM", ("BioGptConfig", BASE), decoder, generates=True)
add("decoder", "XGLMForCausalLM", ("XGLMConfig", dict(vocab_size=VOCAB, d_model=32, num_layers=2, attention_heads=4,
    ffn_dim=64, max_position_embeddings=64)), decoder, generates=True)
add("decoder", "MambaForCausalLM", ("MambaConfig", dict(BASE, state_size=4, conv_kernel=3)), decoder, generates=True)
add("decoder", "Mamba2ForCausalLM", ("Mamba2Config", dict(BASE, state_size=8, num_heads=8, head_dim=8, n_groups=2,
    chunk_size=4)), decoder, generates=True)

# Encoder-decoders

add("seq2seq", "T5ForConditionalGeneration", ("T5Config", T5), translation, generates=True)
add("seq2seq", "UMT5ForConditionalGeneration", ("UMT5Config", T5), translation, generates=True)
add("seq2seq", "LongT5ForConditionalGeneration", ("LongT5Config", dict(T5, local_radius=2)), translation,
    generates=True)
add("seq2seq", "SwitchTransformersForConditionalGeneration", ("SwitchTransformersConfig", dict(T5, num_experts=2,
    num_sparse_encoder_layers=1, num_sparse_decoder_layers=1, router_jitter_noise=0.0)), translation)
for name in ("Bart", "MBart", "Pegasus", "Blenderbot"):
    add("seq2seq", f"{name}ForConditionalGeneration", (f"{name}Config", BART), translation, generates=True)
add("seq2seq", "M2M100ForConditionalGeneration", ("M2M100Config", BART), translation, generates=True)
add("seq2seq", "MarianMTModel", ("MarianConfig", BART), translation, generates=True)
add("seq2seq", "ProphetNetForConditionalGeneration", ("ProphetNetConfig", dict(vocab_size=VOCAB, hidden_size=32,
    num_encoder_layers=2, num_decoder_layers=2, num_encoder_attention_heads=4, num_decoder_attention_heads=4,
    encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    decoder_start_token_id=2)), translation)
