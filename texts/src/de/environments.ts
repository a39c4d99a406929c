import type { Translated } from '#/english.ts'

export const environments: Translated<'environments'> = {
  off: 'Umgebungen sind hier nicht eingeschaltet. Der Betreiber schaltet sie mit der Einstellung ENVIRONMENTS ein.',
  notFound: 'Es gibt keine Umgebung dieses Namens.',
  versionNotFound: 'Die Umgebung hat diese Version nicht.',
  forAdministrators: 'Umgebungen sind hier Sache der Administratoren.',
  needsGroup: 'Nenne die Gruppe, zu der die Umgebung gehört; das ist für Verwalter nötig.',
  notManager: 'Die Umgebung gehört nicht zu einer Gruppe, die du verwaltest.',
  nameTaken: 'Es gibt schon eine Umgebung dieses Namens.',
  tooMany: 'Es gibt {max} Umgebungen, mehr sind nicht möglich. Lösche eine, die nicht gebraucht wird.',
  noChangeOfGroup: 'Nur Administratoren geben eine Umgebung einer anderen Gruppe.',
  inUse: 'Vorlagen verwenden diese Umgebung: {types}. Ändere diese zuerst.',
  building: 'Eine Version dieser Umgebung wird gebaut oder wartet darauf. Warte ab, oder brich sie ab.',
  notBuilding: 'Diese Version wird nicht gebaut.',
  notReady: 'Nur eine fertige Version kann veröffentlicht werden.',
  notReadyToTry: 'Nur eine fertige Version kann ausprobiert werden.',
  noTemplateToTry:
    'Keine Vorlage nennt die Umgebung {name}, also ist nicht bekannt, wie sie läuft. Nenne sie zuerst in einer Vorlage.',
  imageGone: 'Die Container-Engine hat das Image der Version {version} nicht mehr. Baue es noch einmal.',
  trialTypeTaken: 'Eine Vorlage heißt {type}; so hieße auch der Container, in dem diese Version ausprobiert wird.',
  otherTrial: 'Du beginnst gerade, eine andere Version auszuprobieren. Versuche es noch einmal.',
  noTrial: 'Du probierst keine Version dieser Umgebung aus.',
  trialEnded: 'Der Container zum Ausprobieren ist entfernt.',
  typeNotOfGroup:
    'Die Vorlage von {type} verwendet diese Umgebung und ist nicht nur für die Mitglieder der Gruppe. Ein Administrator muss ihre Versionen ausprobieren und veröffentlichen.',
  deleted: 'Die Umgebung ist gelöscht. Ihre Images verschwinden, sobald kein Container sie mehr verwendet.',
  cancelled: 'Der Bau ist abgebrochen.',
  notPublished:
    'Die Umgebung {name} dieses Typs hat noch keine veröffentlichte Version. Frage, wer diesen Dienst betreibt.',
  tooLong: 'Das Dockerfile hat mehr als {max} Zeichen.',
  noFrom: 'Das Dockerfile hat kein FROM; so ist nicht gesagt, worauf das Image aufbaut.',
  beforeFrom: 'Zeile {line}: {what} steht vor dem ersten FROM; dort darf nur ARG stehen.',
  controlCharacter: 'Zeile {line} hat ein Steuerzeichen oder eines, das ihren Inhalt verbirgt{what}.',
  directive:
    'Zeile {line}: „{what}“ verlangt einen anderen Leser des Dockerfiles, den Berth nicht verwendet. Entferne die Zeile.',
  doubleEscape: 'Zeile {line} endet mit Fluchtzeichen, die Engines verschieden lesen{what}.',
  unknownInstruction: 'Zeile {line}: „{what}“ ist keine Anweisung eines Dockerfiles.',
  heredoc: 'Zeile {line} verwendet ein Here-Dokument, das diese Engine nicht kennt{what}. Verbinde Befehle mit &&.',
  flag: 'Zeile {line}: „{what}“ ist hier nicht möglich. Mounts, Netze und Plattformen von Schritten brauchen BuildKit; entferne die Angabe.',
  unclearImage:
    'Zeile {line}: Es ist nicht zu entscheiden, welches Image „{what}“ meint. Schreibe den Namen ohne Anführungs- und Fluchtzeichen, und gib jedem ARG darin einen Wert.',
  stageTwice: 'Zeile {line}: Zwei Stufen heißen „{what}“.',
  addUrl:
    'Zeile {line}: ADD nimmt nur Dateien des Kontexts, keine URL und keine Variable („{what}“). Lade sie mit RUN und einem Programm.',
  ownLabel: 'Zeile {line}: Labels, die mit „berth.“ beginnen, gehören Berth („{what}“).',
  trigger: 'Zeile {line}: ONBUILD darf keine Dateien eines anderen Images nehmen („{what}“).',
  baseLabel: 'Das Image {image} hat das Label {what}, das Berth gehört; es kann keine Grundlage sein.',
  baseTrigger:
    'Das Image {image} beginnt jeden Bau mit „{what}“, was nicht geprüft werden kann; es kann keine Grundlage sein.',
  baseUser: 'Das Image läuft als „{what}“, was in einem Dockerfile nicht stehen kann.',
  baseNotAllowed: 'Das Image {image} darf hier nicht verwendet werden. Verwalter bauen auf: {allowed}.',
  noBases: 'nichts; BUILD_BASES nennt kein Image, und keine Vorlage der Gruppe hat eines',
  imageMissing: 'Das Image {image} ist nicht zu bekommen: {why}',
  failed: 'Der Bau ist fehlgeschlagen: {words}',
  killed:
    'Ein Schritt wurde abgebrochen, wie einer, der mehr Arbeitsspeicher als {max} braucht (BUILD_MEMORY): {words}',
  timeout: 'Der Bau dauerte länger als {seconds, plural, one {# Sekunde} other {# Sekunden}} (BUILD_TIMEOUT).',
  tooLarge: 'Das Image, oder was ein Schritt schrieb, ist größer als {max} (BUILD_MAX_SIZE).',
  diskFull: 'Die Platte der Engine ist voll. Frage, wer diesen Dienst betreibt.',
  engineLost: 'Die Engine hat während des Baus nicht geantwortet.',
  interrupted:
    'Berth wurde beendet, während diese Version gebaut wurde, hat seine Einstellungen neu gelesen oder konnte das Ende des Baus nicht speichern. Baue sie erneut.',
  wasCancelled: 'Der Bau wurde abgebrochen.',
  tooManyChecks: 'Gerade werden schon {max} Repositorys geprüft. Prüfe gleich noch einmal.',
  internal: 'Der Bau ist aus einem Grund fehlgeschlagen, der bei Berth selbst liegt und in seinem Log steht.',
  needsBase: 'Das Repository hat {files} und kein Dockerfile: Nenne ein Image, auf dem es aufbaut.',
  gitHostNotAllowed:
    'Repositorys von {host} sind für Verwalter nicht erlaubt; der Betreiber erlaubt Hosts mit BUILD_GIT_HOSTS.',
  gitFailed: 'Das Repository konnte nicht gelesen werden: {why}',
  nothingRecognised: 'In {path} des Repositorys ist keine der Dateien: {files}.',
  devcontainerFeatures:
    'Die Datei devcontainer.json verlangt „{what}“, was nicht unterstützt wird. Verwende ein Dockerfile.',
  badFile: 'Die Datei {file} des Repositorys ist nicht verwendbar: {why}',
  root: 'dem obersten Ordner',
}
