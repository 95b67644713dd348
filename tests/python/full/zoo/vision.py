"""Models of images."""
import torch

from zoo.inputs import image, pixels
from zoo.registry import add
from zoo.sizes import BATCH, IMAGE, PATCHES

for name, more in {
    "ViT": {}, "DeiT": {}, "Beit": dict(use_relative_position_bias=True), "Dinov2": {}, "ViTMSN": {},
    "Data2VecVision": {}, "Dinov2WithRegisters": dict(num_register_tokens=2),
}.items():
    add("vision", f"{name}ForImageClassification", (f"{name}Config", dict(PATCHES, **more)), image())
SWIN = dict(image_size=IMAGE, patch_size=4, embed_dim=16, depths=[1, 2], num_heads=[2, 4], window_size=4, num_labels=5)
STAGES_4 = dict(num_channels=3, num_labels=5)
add("vision", "SwinForImageClassification", ("SwinConfig", SWIN), image())
add("vision", "Swinv2ForImageClassification", ("Swinv2Config", SWIN), image())
add("vision", "FocalNetForImageClassification", ("FocalNetConfig", dict(SWIN, focal_levels=[2, 2],
    focal_windows=[3, 3])), image())
for name in ("ConvNext", "ConvNextV2"):
    add("vision", f"{name}ForImageClassification", (f"{name}Config", dict(STAGES_4, depths=[1, 1, 2, 1],
        hidden_sizes=[8, 16, 24, 32])), image())
add("vision", "ResNetForImageClassification", ("ResNetConfig", dict(STAGES_4, embedding_size=8, hidden_sizes=[8, 16],
    depths=[1, 2], layer_type="basic")), image())
add("vision", "RegNetForImageClassification", ("RegNetConfig", dict(STAGES_4, embedding_size=8, hidden_sizes=[8, 16],
    depths=[1, 2], groups_width=4)), image())
add("vision", "BitForImageClassification", ("BitConfig", dict(STAGES_4, embedding_size=8, hidden_sizes=[32, 64],
    depths=[1, 1], num_groups=4)), image())
add("vision", "MobileNetV2ForImageClassification", ("MobileNetV2Config", dict(STAGES_4, image_size=IMAGE,
    depth_multiplier=0.25, finegrained_output=False)), image())
add("vision", "EfficientNetForImageClassification", ("EfficientNetConfig", dict(STAGES_4, image_size=IMAGE,
    width_coefficient=0.25, depth_coefficient=0.3, kernel_sizes=[3, 5], in_channels=[16, 16], out_channels=[16, 24],
    strides=[1, 2], num_block_repeats=[1, 1], expand_ratios=[1, 6], depthwise_padding=[], hidden_dim=320,
    pooling_type="mean")), image())
add("vision", "MobileViTForImageClassification", ("MobileViTConfig", dict(STAGES_4, image_size=IMAGE, patch_size=2,
    hidden_sizes=[16, 16, 16], neck_hidden_sizes=[8, 8, 16, 16, 16, 16, 32], num_attention_heads=4)), image())
add("vision", "PoolFormerForImageClassification", ("PoolFormerConfig", dict(STAGES_4, hidden_sizes=[8, 16],
    depths=[1, 1], patch_sizes=[7, 3], strides=[4, 2], padding=[2, 1], num_encoder_blocks=2)), image())
add("vision", "PvtV2ForImageClassification", ("PvtV2Config", dict(STAGES_4, image_size=IMAGE, hidden_sizes=[8, 16],
    depths=[1, 1], num_encoder_blocks=2, num_attention_heads=[1, 2], sr_ratios=[2, 1], mlp_ratios=[2, 2],
    patch_sizes=[7, 3], strides=[4, 2])), image())
add("vision", "LevitForImageClassification", ("LevitConfig", dict(STAGES_4, image_size=64, hidden_sizes=[16, 24, 32],
    depths=[1, 1, 1], num_attention_heads=[2, 2, 2], key_dim=[8, 8, 8], drop_path_rate=0, mlp_ratio=[2, 2, 2],
    attention_ratio=[2, 2, 2])), image(size=64))
add("vision", "SegformerForSemanticSegmentation", ("SegformerConfig", dict(num_encoder_blocks=2, depths=[1, 1],
    sr_ratios=[2, 1], hidden_sizes=[8, 16], patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2],
    mlp_ratios=[2, 2], decoder_hidden_size=16, num_labels=5)),
    lambda: dict(pixel_values=pixels(), labels=torch.randint(0, 5, (BATCH, IMAGE, IMAGE))))
add("vision", "YolosForObjectDetection", ("YolosConfig", dict(PATCHES, image_size=[IMAGE, IMAGE],
    num_detection_tokens=4)), lambda: dict(pixel_values=pixels()))
