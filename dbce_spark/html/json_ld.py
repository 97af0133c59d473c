"""JSON-LD of a page: what its scripts say of the page itself, and not of its site, its people or other pages."""

import json
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import islice
from typing import Any

from dbce_spark.html.bylines import plain
from dbce_spark.html.shown_text import shown_text

MAX_JSON_CHARS = 262_144
"""Characters of JSON-LD that are parsed of one page, in all: 2 to 4 ms. On pages of 2025 the median is 3,000."""

Thing = dict[str, Any]
"""One of the things that a script is about, with its properties."""

_NAMES_OF_SITE = (
    "Person Patient WebSite Organization AccountingService AdultEntertainment Airline AmusementPark AnimalShelter"
    " ArchiveOrganization ArtGallery Attorney Audiology AutoBodyShop AutoDealer AutoPartsStore AutoRental"
    " AutoRepair AutoWash AutomatedTeller AutomotiveBusiness Bakery BankOrCreditUnion BarOrPub BeautySalon"
    " BedAndBreakfast BikeStore BookStore BowlingAlley Brewery CafeOrCoffeeShop Campground Casino ChildCare"
    " ClothingStore CollegeOrUniversity ComedyClub CommunityHealth ComputerStore Consortium ConvenienceStore"
    " Cooperative Corporation CovidTestingFacility DanceGroup DaySpa Dentist DepartmentStore Dermatology"
    " DiagnosticLab DietNutrition Distillery DryCleaningOrLaundry EducationalOrganization Electrician"
    " ElectronicsStore ElementarySchool Emergency EmergencyService EmploymentAgency EntertainmentBusiness"
    " ExerciseGym FastFoodRestaurant FinancialService FireStation Florist FoodEstablishment FundingAgency"
    " FundingScheme FurnitureStore GardenStore GasStation GeneralContractor Geriatric GolfCourse GovernmentOffice"
    " GovernmentOrganization GroceryStore Gynecologic HVACBusiness HairSalon HardwareStore HealthAndBeautyBusiness"
    " HealthClub HighSchool HobbyShop HomeAndConstructionBusiness HomeGoodsStore Hospital Hostel Hotel"
    " HousePainter IceCreamShop IndividualPhysician InsuranceAgency InternetCafe JewelryStore LegalService Library"
    " LibrarySystem LiquorStore LocalBusiness Locksmith LodgingBusiness MedicalBusiness MedicalClinic"
    " MedicalOrganization MensClothingStore MiddleSchool Midwifery MobilePhoneStore Motel MotorcycleDealer"
    " MotorcycleRepair MovieRentalStore MovieTheater MovingCompany MusicGroup MusicStore NGO NailSalon"
    " NewsMediaOrganization NightClub Notary Nursing Obstetric OfficeEquipmentStore Oncologic OnlineBusiness"
    " OnlineMarketplace OnlineStore Ophthalmology Optician Optometric Otolaryngologic OutletStore PawnShop"
    " Pediatric PerformingGroup PetStore Pharmacy Physician PhysiciansOffice Physiotherapy PlasticSurgery Plumber"
    " Podiatric PoliceStation PoliticalParty PostOffice Preschool PrimaryCare ProfessionalService Project"
    " Psychiatric PublicHealth PublicSwimmingPool RadioStation RealEstateAgent RecyclingCenter"
    " ResearchOrganization ResearchProject Resort Restaurant RoofingContractor School SearchRescueOrganization"
    " SelfStorage ShoeStore ShoppingCenter SkiResort SportingGoodsStore SportsActivityLocation SportsClub"
    " SportsOrganization SportsTeam StadiumOrArena Store TattooParlor TelevisionStation TennisComplex TheaterGroup"
    " TireShop TouristInformationCenter ToyStore TravelAgency VacationRental VeterinaryCare WholesaleStore Winery"
    " WorkersUnion"
)
_OF_SITE = frozenset(_NAMES_OF_SITE.lower().split())
"""Types of schema.org for people, organizations and sites, with all types below them, as in schema-dts 2.1.0 of npm."""
_IMAGE = "imageobject"
_MOST_HEADLINES, _MOST_HEADINGS = 100, 16
"""Headlines in JSON-LD and headings of a page that are compared: a page with more is a list, not an article."""
_LIKE = 0.8
"""Share of the words of the shorter of two headlines that the longer one has, if both are of one article."""
_FEWEST_CHARS = 8
"""Of a headline that stands in a longer title, or a heading in a longer headline: a shorter one is a section's name."""


def page_things(root: Any, scripts: Iterable[str]) -> list[Thing]:
    """Read the things that a page's JSON-LD scripts are about, not those they refer to, such as comments.

    Of several articles, only those are the page's whose headline its title or a heading repeats, if there is one.
    The script that takes a page beyond MAX_JSON_CHARS is left out, and so are those after it.
    """
    things = [thing for script in _within_bounds(scripts) for thing in _things(script)]
    headlines = {headline for thing in things if (headline := _headline(thing))}
    if not 1 < len(headlines) <= _MOST_HEADLINES:
        return things
    headings = [plain(shown_text(heading)) for heading in islice(root.iter("title", "h1"), _MOST_HEADINGS)]
    others = {one for one in headlines if not any(_is_repeated(one, heading) for heading in headings)}
    return things if len(others) == len(headlines) else [one for one in things if _headline(one) not in others]


def types_of(thing: Thing) -> set[str]:
    """List the types of a thing in small letters, without the address of their vocabulary."""
    written = thing.get("@type")
    types = written if isinstance(written, list) else [written]
    return {one.lower().replace("#", "/").replace(":", "/").rpartition("/")[2] for one in types if isinstance(one, str)}


def is_image(thing: Thing) -> bool:
    """Test for a picture, which has an author, a day and a licence of its own."""
    return _IMAGE in types_of(thing)


def is_of_page(thing: Thing) -> bool:
    """Test for what may be the page; people, organizations, sites and pictures are not."""
    return not is_image(thing) and _OF_SITE.isdisjoint(types_of(thing))


def texts(value: Any) -> Iterator[str]:
    """Iterate over the texts among the values of a property."""
    for one in value if isinstance(value, list) else [value]:
        text = one.get("@value") if isinstance(one, dict) else one
        if isinstance(text, str):
            yield text


def _within_bounds(scripts: Iterable[str]) -> Iterator[str]:
    left = MAX_JSON_CHARS
    for script in scripts:
        left -= len(script)
        if left >= 0:
            yield script


def _things(script: str) -> Iterator[Thing]:
    """Iterate over the things that a script is about; none in one that is no JSON."""
    try:
        data = json.loads(script, strict=False)
    except (ValueError, RecursionError):
        return
    for one in data if isinstance(data, list) else [data]:
        if isinstance(one, dict):
            yield one
            graph = one.get("@graph")
            yield from (node for node in (graph if isinstance(graph, list) else [graph]) if isinstance(node, dict))


def _headline(thing: Thing) -> str:
    return plain(unescape(next(texts(thing.get("headline")), "")))


def _is_repeated(headline: str, heading: str) -> bool:
    """Test whether a headline and a title, or a heading, say the same, or one of both is in the other."""
    shorter, longer = sorted((headline, heading), key=len)
    words = {*shorter.split()}
    is_alike = len(words & {*longer.split()}) >= _LIKE * len(words)
    is_long = len(words) > 1 or len(shorter) >= _FEWEST_CHARS
    return shorter == longer or (is_long and (is_alike or shorter in longer))
