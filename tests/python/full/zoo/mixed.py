"""Models of text with images, of time series, and of diffusion."""
import torch
import transformers

from zoo.inputs import ids, masked, pictured, pixels, text_and_image
from zoo.registry import add
from zoo.sizes import BASE, BATCH, CLIP_TEXT, CLIP_VISION, GPT2, GQA, IMAGE, LENGTH, PATCHES, VOCAB

# Text with images

add("multimodal", "CLIPModel", ("CLIPConfig", dict(text_config=CLIP_TEXT, vision_config=CLIP_VISION,
    projection_dim=16)), text_and_image(return_loss=True))
add("multimodal", "SiglipModel", ("SiglipConfig", dict(text_config=CLIP_TEXT, vision_config=CLIP_VISION)),
    text_and_image(return_loss=True))
add("multimodal", "ChineseCLIPModel", ("ChineseCLIPConfig", dict(text_config=BASE, vision_config=CLIP_VISION,
    projection_dim=16)), text_and_image(return_loss=True))
add("multimodal", "BlipForConditionalGeneration", ("BlipConfig", dict(text_config=dict(BASE, encoder_hidden_size=32,
    sep_token_id=2), vision_config=CLIP_VISION, projection_dim=16)),
    lambda: dict(text_and_image()(), labels=ids()))
add("multimodal", "GitForCausalLM", ("GitConfig", dict(BASE, vision_config=CLIP_VISION)),
    lambda: dict(text_and_image()(), labels=ids()))
add("multimodal", "ViltForQuestionAnswering", ("ViltConfig", dict(PATCHES, vocab_size=VOCAB, max_position_embeddings=64,
    max_image_length=-1)), lambda: dict(text_and_image()(), labels=torch.rand(BATCH, 5)))
add("multimodal", "VisionEncoderDecoderModel",
    lambda: transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(transformers.ViTConfig(**PATCHES),
    transformers.GPT2Config(**GPT2, add_cross_attention=True), decoder_start_token_id=1, pad_token_id=0),
    lambda: dict(pixel_values=pixels(), labels=ids(7)), generates=True)
add("multimodal", "LlavaForConditionalGeneration", lambda: transformers.LlavaConfig(
    vision_config=transformers.CLIPVisionConfig(**CLIP_VISION), text_config=transformers.LlamaConfig(**GQA),
    image_token_index=3, image_seq_length=16), lambda: pictured(tokens=16), generates=True)
add("multimodal", "LayoutLMForTokenClassification", ("LayoutLMConfig", dict(BASE, max_2d_position_embeddings=64,
    num_labels=5)), lambda: dict(input_ids=ids(), attention_mask=masked(),
    bbox=torch.arange(4).expand(BATCH, LENGTH, 4) * 3, labels=torch.randint(0, 5, (BATCH, LENGTH))))

# Time series, diffusion

add("series", "PatchTSTForPrediction", ("PatchTSTConfig", dict(num_input_channels=2, context_length=16, patch_length=4,
    patch_stride=4, d_model=16, num_attention_heads=2, num_hidden_layers=2, ffn_dim=32, prediction_length=4)),
    lambda: dict(past_values=torch.randn(BATCH, 16, 2), future_values=torch.randn(BATCH, 4, 2)))
UNET = dict(sample_size=8, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4)
add("diffusion", "UNet2DModel", dict(UNET, down_block_types=("DownBlock2D", "AttnDownBlock2D"), attention_head_dim=4,
    up_block_types=("AttnUpBlock2D", "UpBlock2D")),
    lambda: dict(sample=torch.randn(BATCH, 3, 8, 8), timestep=torch.tensor([3, 5])), library="diffusers")
add("diffusion", "UNet2DConditionModel", dict(UNET, down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
    up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), cross_attention_dim=16, attention_head_dim=2),
    lambda: dict(sample=torch.randn(BATCH, 4, 8, 8), timestep=torch.tensor([3, 5]),
                 encoder_hidden_states=torch.randn(BATCH, 4, 16)), library="diffusers")
add("diffusion", "AutoencoderKL", dict(block_out_channels=(8, 16), down_block_types=("DownEncoderBlock2D",) * 2,
    up_block_types=("UpDecoderBlock2D",) * 2, norm_num_groups=4, sample_size=16),
    lambda: dict(sample=torch.randn(BATCH, 3, 16, 16)), library="diffusers")
add("diffusion", "DiTTransformer2DModel", dict(num_attention_heads=2, attention_head_dim=8, in_channels=4, num_layers=2,
    norm_num_groups=4, sample_size=8, patch_size=2, num_embeds_ada_norm=10),
    lambda: dict(hidden_states=torch.randn(BATCH, 4, 8, 8), timestep=torch.tensor([3, 5]),
                 class_labels=torch.tensor([1, 2])), library="diffusers")
