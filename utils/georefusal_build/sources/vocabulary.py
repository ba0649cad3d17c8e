"""Class names of the public sources, spelled as in their files."""

# fmt: off
DOTA = frozenset({
    "plane", "ship", "storage-tank", "baseball-diamond", "tennis-court", "basketball-court", "ground-track-field",
    "harbor", "bridge", "large-vehicle", "small-vehicle", "helicopter", "roundabout", "soccer-ball-field",
    "swimming-pool",
})
"""Version 1.0."""

DIOR = frozenset({
    "airplane", "airport", "baseballfield", "basketballcourt", "bridge", "chimney", "dam", "Expressway-Service-area",
    "Expressway-toll-station", "golffield", "groundtrackfield", "harbor", "overpass", "ship", "stadium",
    "storagetank", "tenniscourt", "trainstation", "vehicle", "windmill",
})

FAIR1M = frozenset({
    "Passenger Ship", "Motorboat", "Fishing Boat", "Tugboat", "other-ship", "Engineering Ship", "Liquid Cargo Ship",
    "Dry Cargo Ship", "Warship",
    "Small Car", "Bus", "Cargo Truck", "Dump Truck", "other-vehicle", "Van", "Trailer", "Tractor", "Excavator",
    "Truck Tractor",
    "Boeing737", "Boeing747", "Boeing777", "Boeing787", "ARJ21", "C919", "A220", "A321", "A330", "A350",
    "other-airplane",
    "Baseball Field", "Basketball Court", "Football Field", "Tennis Court", "Roundabout", "Intersection", "Bridge",
})

XVIEW = {
    11: "Fixed-wing Aircraft", 12: "Small Aircraft", 13: "Cargo Plane", 15: "Helicopter", 17: "Passenger Vehicle",
    18: "Small Car", 19: "Bus", 20: "Pickup Truck", 21: "Utility Truck", 23: "Truck", 24: "Cargo Truck",
    25: "Truck w/Box", 26: "Truck Tractor", 27: "Trailer", 28: "Truck w/Flatbed", 29: "Truck w/Liquid",
    32: "Crane Truck", 33: "Railway Vehicle", 34: "Passenger Car", 35: "Cargo Car", 36: "Flat Car", 37: "Tank car",
    38: "Locomotive", 40: "Maritime Vessel", 41: "Motorboat", 42: "Sailboat", 44: "Tugboat", 45: "Barge",
    47: "Fishing Vessel", 49: "Ferry", 50: "Yacht", 51: "Container Ship", 52: "Oil Tanker",
    53: "Engineering Vehicle", 54: "Tower crane", 55: "Container Crane", 56: "Reach Stacker", 57: "Straddle Carrier",
    59: "Mobile Crane", 60: "Dump Truck", 61: "Haul Truck", 62: "Scraper/Tractor", 63: "Front loader/Bulldozer",
    64: "Excavator", 65: "Cement Mixer", 66: "Ground Grader", 71: "Hut/Tent", 72: "Shed", 73: "Building",
    74: "Aircraft Hangar", 76: "Damaged Building", 77: "Facility", 79: "Construction Site", 83: "Vehicle Lot",
    84: "Helipad", 86: "Storage Tank", 89: "Shipping container lot", 91: "Shipping Container", 93: "Pylon",
    94: "Tower",
}
"""By type_id; the files also use 75 and 82, which the source does not explain."""

FMOW = frozenset({
    "airport", "airport_hangar", "airport_terminal", "amusement_park", "aquaculture", "archaeological_site", "barn",
    "border_checkpoint", "burial_site", "car_dealership", "construction_site", "crop_field", "dam",
    "debris_or_rubble", "educational_institution", "electric_substation", "factory_or_powerplant", "fire_station",
    "flooded_road", "fountain", "gas_station", "golf_course", "ground_transportation_station", "helipad", "hospital",
    "impoverished_settlement", "interchange", "lake_or_pond", "lighthouse", "military_facility",
    "multi-unit_residential", "nuclear_powerplant", "office_building", "oil_or_gas_facility", "park",
    "parking_lot_or_garage", "place_of_worship", "police_station", "port", "prison", "race_track", "railway_bridge",
    "recreational_facility", "road_bridge", "runway", "shipyard", "shopping_mall", "single-unit_residential",
    "smokestack", "solar_farm", "space_facility", "stadium", "storage_tank", "surface_mine", "swimming_pool",
    "toll_booth", "tower", "tunnel_opening", "waste_disposal", "water_treatment_facility", "wind_farm", "zoo",
    "false_detection",
})

SARDET = frozenset({"ship", "tank", "aircraft", "bridge", "car", "harbor"})

SARDET_SUBSOURCES = {
    "AIR_SARShip_1": {"ship"}, "AIR_SARShip_2": {"ship"}, "HRSID": {"ship"},
    "MSAR": {"aircraft", "tank", "bridge", "ship"}, "SADD": {"aircraft"}, "SAR-AIRcraft": {"aircraft"},
    "ShipDataset": {"ship"}, "SSDD": {"ship"}, "OGSOD": {"bridge", "harbor", "tank"}, "SIVED": {"car"},
}
"""Which classes each of the ten collections annotates, from the SARDet-100K paper (arXiv 2403.06534)."""

M4SAR = ("bridge", "harbor", "oil_tank", "playground", "airport", "wind_turbine")
"""In the order of the class numbers in the label files."""
# fmt: on
