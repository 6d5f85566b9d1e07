//! Small notes of a household, for sentences that compute or reword what is in them.

pub(super) const BAKERY: &str = "# Bakery week\n\
    \n\
    | Item | Price | Sold on Monday |\n\
    | --- | --- | --- |\n\
    | Rye loaf | 4 € | 20 |\n\
    | Plum cake | 18 € | 3 |\n\
    | Pretzel | 1.20 € | 45 |\n\
    \n\
    Flour: 400 g wheat and 350 g rye go into one batch. The dough rests for 90 minutes. The oven is heated to 220 °C.\n\
    The baker starts at 4:30 am. A helper comes every other week. The starter is fed every 15 minutes during the first hour.\n";

pub(super) const CAR: &str = "# Car log\n\
    \n\
    | Date | Litres | Cost | Odometer |\n\
    | --- | --- | --- | --- |\n\
    | 2026-02-01 | 40 | 68 € | 12,000 km |\n\
    | 2026-02-15 | 35 | 63 € | 12,500 km |\n\
    | 2026-03-01 | 45 | 81 € | 13,100 km |\n\
    \n\
    The car was bought in 2019 for 18,400 €. It weighs 1.2 t. The next service is due at 15,000 km or in June 2026. The tyres are at 2.4 bar. The battery lasts 3 to 5 years. The inspection lasts until the end of September 2026.\n";

pub(super) const CLINIC: &str = "# Physio plan\n\
    \n\
    - Warm-up: 10 minutes\n\
    - Stretching: 15 minutes\n\
    - Strength: 35 minutes\n\
    \n\
    The first session was on 9 January 2026, the last one on 20 February 2026. Each session costs 45 euros and there are 8 sessions. The insurance pays 80 %.\n\
    Do the knee exercise three times a day. The practice is open from 8:00 to 12:30. Patients should drink 2 litres of water a day. Ice the knee for no longer than 20 minutes.\n\
    Of the 40 patients, 30 finished the plan.\n";

pub(super) const CLUB: &str = "# Choir\n\
    \n\
    The choir was founded in 1987. In 2026 it has 48 members, 36 of them sing alto or soprano. Rehearsals are on the first Monday of each month from 19:30 to 21:30.\n\
    Anna was born in 1990 and joined in 2015. Membership is 60 euros a year. The concert is on 4 May 2026.\n\
    The hall has 300 seats; 225 are sold. The choir sang 3 concerts in 2024, 5 in 2025 and 4 in 2026.\n";

pub(super) const FEST: &str = "# Sommerfest\n\
    \n\
    Das Fest beginnt um 14 Uhr und endet um 22:30 Uhr. 120 Gäste sind angemeldet, davon 45 Kinder. Ein Kuchen reicht für 12 Personen. Der Saal kostet 600 Euro, die Band 900 Euro. Die Anzahlung von 400 Euro ist bezahlt.\n\
    Das Essen gibt es um halb sieben. Der Bus fährt alle 20 Minuten. Drei Viertel der Gäste kommen mit dem Bus. Das Fest ist am 27. Juni 2026, Anmeldeschluss war am 6. Juni 2026.\n";

pub(super) const GARDEN: &str = "# Garden log\n\
    \n\
    Radishes were sown on 3 March 2026 and harvested on 11 April 2026. The tomatoes go outside on 15 May.\n\
    The tank holds 1.5 l of feed per can. Watering needs 10–20 litres a day. The bed is 240 cm long.\n\
    A quarter of the seedlings died. The greenhouse opens at 18:30 and closes at 21:00.\n\
    The plot is leased from 5 December 2025. Slugs ate two thirds of the lettuce.\n\
    \n\
    ## Repotting\n\
    \n\
    1. Water the plant\n\
    2. Loosen the root ball\n\
    3. Fill the pot with soil\n\
    4. Press the soil down\n";

pub(super) const HAUS: &str = "# Hausnotizen\n\
    \n\
    Die Heizung wurde am 3. Oktober 2025 gewartet. Der Techniker kommt am 15. Oktober 2025 wieder. Die Miete beträgt 850 Euro, die Nebenkosten betragen 210 Euro.\n\
    Der Keller ist von 8 bis 20 Uhr offen. Ein Schlüssel kostet 35 Euro; es gibt 4 Schlüssel.\n";

pub(super) const HOUSE: &str = "# House repair\n\
    \n\
    The roofer quoted 8,400 euros, the carpenter 5,600 euros and the painter 2,000 euros. We have 12,000 euros saved. Work begins on Monday 13 April 2026 and takes three weeks. The old roof dates from 1974. The loan runs for 10 years at 3.5 %. The invoice of 2,400 euros is payable in 4 equal instalments. The attic is 6 m long and 4.5 m wide. The painter comes at noon. The doctor in the house was born in 1958.\n";

pub(super) const RECIPE: &str = "# Pancakes\n\
    \n\
    Serves 4. Mix 250 g flour, 500 ml milk and 3 eggs. Let it rest for half an hour. Fry each pancake for 2 minutes per side at 180 °C. The batter makes 12 pancakes.\n\
    \n\
    1. Sift the flour\n\
    2. Whisk in the milk\n\
    3. Add the eggs\n\
    4. Rest the batter\n\
    5. Fry in butter\n\
    \n\
    Keep leftovers at most 2 days in the fridge.\n";

pub(super) const TRIP: &str = "# Ferry trip\n\
    \n\
    The group has 24 people; 15 of them are children. A ticket costs 12 euros for adults and 7 euros for children.\n\
    The first ferry departs at 7:30 and arrives at 10:00. The return ferry leaves at 17:45. Luggage may weigh at most 20 kg.\n\
    The deposit is 150 euros and was paid on 2 June 2026. The trip takes place on 14 June 2026. The rest of the 393 euros is due on the day of the trip.\n\
    At least 10 bicycles fit on board. The island is 12 km away.\n";
