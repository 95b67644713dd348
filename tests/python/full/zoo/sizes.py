"""Sizes that several models share."""
VOCAB, BATCH, LENGTH, IMAGE = 64, 2, 9, 32

BASE = dict(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2)
GQA = dict(BASE, num_key_value_heads=2, head_dim=8)
PATCHES = dict(image_size=IMAGE, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
               intermediate_size=64, num_labels=5)
GPT2 = dict(vocab_size=VOCAB, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1,
            eos_token_id=2, pad_token_id=0)
BART = dict(vocab_size=VOCAB, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64,
            pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None)
T5 = dict(vocab_size=VOCAB, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, pad_token_id=0, eos_token_id=2,
          decoder_start_token_id=0)
SPEECH = dict(vocab_size=16, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
              conv_dim=(16, 16), conv_stride=(4, 2), conv_kernel=(8, 3), num_feat_extract_layers=2,
              num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, apply_spec_augment=False,
              mask_time_prob=0.0, pad_token_id=0, ctc_zero_infinity=True)
CLIP_TEXT = dict(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                 max_position_embeddings=16, eos_token_id=2, bos_token_id=1, pad_token_id=0, projection_dim=16)
CLIP_VISION = dict(image_size=IMAGE, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                   intermediate_size=64, projection_dim=16)
