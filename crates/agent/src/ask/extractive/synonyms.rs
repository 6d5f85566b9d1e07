//! Everyday words that mean the same, of notes about home, work, money, health and travel, in
//! English and German. A question and a note rarely use the same one.
//!
//! Only words of common life are here, and no name of anything. A word may stand in several groups;
//! two words mean the same when they share one.

use std::collections::HashMap;
use std::sync::OnceLock;

use local_agent_index::lexical;

/// One group a line.
const GROUPS: &str = "\
bike bicycle cycle fahrrad rad
car automobile vehicle auto wagen
motorbike motorcycle motorrad
train railway rail zug bahn
plane flight airplane fly flug flieger
boat ship ferry schiff boot fähre
trip journey travel holiday vacation tour reise urlaub ausflug
hotel hostel accommodation lodging stay bed unterkunft übernachtung pension
luggage baggage suitcase gepäck koffer
ticket fare fahrkarte karte
booking reservation book reserve buchung reservierung
mother mum mom mama mutter mutti
father dad papa vater
brother sibling bruder
sister sibling schwester
wife husband spouse partner frau mann ehefrau ehemann
child kid son daughter kind sohn tochter
grandmother grandma granny oma großmutter
grandfather grandpa opa großvater
friend mate buddy freund freundin
boss manager supervisor lead chef leiter vorgesetzter
colleague coworker teammate kollege kollegin
neighbour neighbor nachbar
landlord owner vermieter
tenant renter mieter
doctor physician gp arzt ärztin
dentist dental tooth teeth zahnarzt zahn zähne
surgery operation op operiert
medicine medication drug pill tablet medikament tablette arznei
vaccination vaccine jab shot immunisation impfung impfen
allergy allergic allergie allergisch intolerance
glasses spectacles brille
checkup examination inspection check untersuchung kontrolle vorsorge
pain ache hurt schmerz
price cost charge fee paid expense preis kosten gebühr kostet
salary wage pay income earn gehalt lohn einkommen
rent miete kaltmiete warmmiete
deposit kaution bond
invoice bill receipt rechnung beleg
tax taxes steuer
insurance insured cover policy versicherung versichert
contract agreement vertrag vereinbarung
subscription plan membership abo abonnement mitgliedschaft
cancel terminate quit kündigen kündigung
donation donate gift spende
present gift geschenk
loan credit mortgage kredit darlehen
savings saved ersparnis gespart
spend spent spending expense expenditure outlay ausgabe ausgegeben ausgaben
budget haushalt
buy bought purchase purchased acquire order kaufen gekauft kauf bestellt
sell sold sale verkauft verkaufen verkauf
cheap cheapest inexpensive low günstig billig
expensive costly dear teuer
warranty guarantee garantie gewährleistung
repair fix mend fixed repaired reparatur reparieren repariert
broken defective faulty dead kaputt defekt
bug error fault defect issue problem fehler mangel störung
cause reason why ursache grund
solution workaround fix remedy lösung abhilfe
replace replaced swap exchange substitute ersetzt ersetzen austauschen wechseln
delete deleted remove erase wipe löschen entfernen gelöscht
reset restart reboot zurücksetzen neustart werkseinstellung
backup copy copies snapshot sicherung sicherungskopie
restore recover retrieve wiederherstellen wiederherstellung
password passphrase passcode pin code passwort kennwort
computer laptop notebook machine pc rechner
server host nas
router gateway modem
network wifi wlan lan netz netzwerk
internet broadband provider isp
phone mobile telephone smartphone handy telefon
number id nummer kennnummer
customer client kunde kundin
supplier vendor provider lieferant anbieter
chip microcontroller mcu processor cpu soc prozessor
battery cell akku batterie accumulator
power supply charger psu netzteil stromversorgung
sensor probe detector fühler
device gadget unit appliance gerät instrument
screen display monitor bildschirm anzeige
case enclosure housing casing gehäuse
cable wire lead kabel leitung
software program app application anwendung
version release revision rev fassung
update upgrade aktualisierung
install setup set installation einrichten installieren
setting configuration option config default einstellung konfiguration
file document doc datei dokument
folder directory ordner verzeichnis
photo picture image bild foto
meeting sync call review appointment session besprechung treffen sitzung termin
decide decided decision chose chosen choose settle agreed entscheidung entschieden beschlossen beschluss
vote ballot abstimmung
reject rejected refuse decline declined abgelehnt ablehnen
approve approved accept accepted genehmigt angenommen
cancelled stopped abandoned dropped killed ended discontinued abgebrochen gestoppt eingestellt
start started begin began kickoff launch beginn beginnen anfang anfangen
end finish finished over ende enden schluss
delay delayed late slip slipped postponed verspätet verschoben verzögerung
deadline due date frist fällig
task todo chore job errand duty aufgabe
open outstanding remaining pending left offen
done completed finished ticked erledigt fertig
plan schedule roadmap timetable zeitplan
goal target objective aim ziel
requirement need must anforderung
measure measured measurement messung gemessen
calibrate calibration calibrated accuracy kalibrierung kalibrieren eichung
interval period rate frequency takt intervall
maximum max highest limit höchstens maximal maximale höchste
minimum min lowest mindestens minimal niedrigste
height tall high hoch höhe
length long lang länge
width wide breit breite
weight heavy schwer gewicht
size dimension größe
temperature heat degrees temperatur grad
time duration dauer zeit
date datum
address location place venue adresse ort standort
email mail mailadresse
keep kept store stored storage live aufbewahren lagern lagert
located find found lie liegt steht
concert gig performance show recital konzert auftritt
rehearsal practice probe
choir chorus chor
singer singers member vocalist sänger sängerin
conductor conduct director dirigent leiter
song piece tune lied stück
programme program setlist programm
audience listeners visitors attendees spectators publikum zuhörer besucher
party celebration birthday feier fest geburtstag
wedding marriage hochzeit
guest visitor gast besuch
book novel read buch roman
author writer wrote autor
film movie filme
rating score stars grade bewertung sterne
favourite favorite best liebling
recipe dish meal rezept gericht
ingredient ingredients zutat zutaten
bread loaf brot
dough teig
cake kuchen torte
flour mehl
yeast hefe
starter sourdough leaven sauerteig
bake baked oven backen ofen
cook boil kochen
fridge refrigerator kühlschrank
freezer gefrierschrank tiefkühler
food feed feeding eat essen füttern
drink drinkable potable drinking trinken trinkbar
water wasser
garden plot allotment kleingarten garten parzelle schrebergarten
hedge bush shrub hecke gebüsch strauch
fence zaun
shed hut laube schuppen hütte
lawn grass rasen gras
plant sow sown planted pflanzen säen gesät
harvest pick picked ernte geerntet
compost heap kompost
slug snail schnecke
well pump brunnen pumpe
fire flame feuer
rubbish trash garbage waste bin müll abfall
clean cleaning wash putzen reinigen waschen
apartment flat wohnung
house home haus
room office zimmer raum büro
key lock padlock schlüssel schloss
heating radiator boiler heizung
electricity power strom
lamp light bulb lampe licht
tool werkzeug
quiet silence rest ruhe mittagsruhe
noon midday mittag
morning morgens früh
evening night abend abends nacht
rule regulation bylaw regel ordnung satzung vorschrift
allowed permitted may forbidden prohibited erlaubt verboten
safe secure sicher
stolen theft gestohlen diebstahl
damage damaged schaden beschädigt
accident unfall
dog hund pet
cat katze pet
school course class lesson kurs schule unterricht
exam test prüfung
language sprache
work job arbeit
company firm employer business firma unternehmen
team group gruppe mannschaft
training exercise workout sport physio übung
run running jog lauf laufen
exchange swap austausch
club society association verein
holiday leave urlaub ferien vacation
lighthouse leuchtturm
step steps stair stairs stufe stufen treppe
bring take pack mitbringen einpacken mitnehmen
wear dress clothes outfit kleidung
colour color farbe
picky vegetarian vegan vegetarisch
";

/// For each stem, the groups it stands in.
fn groups() -> &'static HashMap<String, Vec<usize>> {
    static ALL: OnceLock<HashMap<String, Vec<usize>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut out: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, line) in GROUPS.lines().enumerate() {
            for stem in lexical::terms(line) {
                let of = out.entry(stem).or_default();
                if of.last() != Some(&at) {
                    of.push(at);
                }
            }
        }
        out
    })
}

/// The stems of the words that mean the same as the word of `stem`, without itself.
pub(super) fn of(stem: &str) -> Vec<String> {
    let all = groups();
    let Some(own) = all.get(stem) else {
        return Vec::new();
    };
    let shares = |of: &[usize]| of.iter().any(|group| own.contains(group));
    let mut out: Vec<String> = all
        .iter()
        .filter(|(other, of)| *other != stem && shares(of))
        .map(|(other, _)| other.clone())
        .collect();
    out.sort_unstable();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        let (a, b) = (lexical::terms(a), lexical::terms(b));
        a.iter().any(|a| b.iter().any(|b| of(a).contains(b)))
    }

    #[test]
    fn everyday_words_mean_the_same_in_one_language_and_across_two() {
        for (a, b) in [
            ("automobile", "car"),
            ("landlord", "Vermieter"),
            ("invoice", "Rechnung"),
            ("reboot", "restart"),
        ] {
            assert!(same(a, b) && same(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("car", "train"),
            ("invoice", "reboot"),
            ("mother", "father"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }
}
