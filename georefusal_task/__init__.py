"""GeoRefusal: does a vision-language model know when not to answer a question about a satellite image?"""

__version__ = "0.1.0"
