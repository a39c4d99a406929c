import type { Translated } from '#/english.ts'

export const snapshots: Translated<'snapshots'> = {
  off: 'Sicherungspunkte sind hier ausgeschaltet.',
  noHome: 'Container dieser Art haben keinen Home-Ordner.',
  stopFirst: 'Der Container läuft. Stoppe ihn zuerst, damit sich seine Dateien währenddessen nicht ändern.',
  elsewhere: 'Das Home dieses Typs ist ein Ordner eines Dateiservers, von dem Berth keine Sicherungspunkte macht.',
  homeHasTypes: 'Ein Typ hat dieses Home. Setze es auf der Seite seiner Sicherungspunkte zurück.',
  homeInUse:
    'Ein Container hat dieses Home noch. Starte den Container seines Typs neu, der dann das gemeinsame Home hat, und entferne dieses danach.',
  formerRemoved: 'Das Home ist entfernt.',
  stopAllFirst:
    'Container von Typen, die sich dieses Home teilen, laufen: {names}. Stoppe sie zuerst: Dann haben alle dieses Home, und seine Dateien ändern sich währenddessen nicht.',
  tooLarge:
    'Der Home-Ordner ist größer, als ein Sicherungspunkt sein darf. Lösche, was du nicht brauchst, oder wende dich an deinen Administrator.',
  failed:
    'Der Home-Ordner ließ sich nicht lesen oder schreiben. An deinen Dateien hat sich nichts geändert; versuche es noch einmal oder wende dich an deinen Administrator.',
  diskFull:
    'Auf der Festplatte des Servers ist kein Platz dafür. An deinen Dateien hat sich nichts geändert; sag es deinem Administrator.',
  unfinished:
    'Die Dateien ließen sich gerade nicht ganz wiederherstellen. Ein Teil von ihnen liegt im neuen Ordner; der Rest folgt von selbst, solange der Container gestoppt ist.',
  resetUnfinished:
    'Der Sicherungspunkt ist erstellt, aber der Home-Ordner ließ sich gerade nicht entfernen. Das folgt von selbst, bevor der Container wieder gestartet wird.',
  needsService: 'Berth läuft nicht. Starte es zuerst: Es verhindert, dass der Container währenddessen gestartet wird.',
  tooMany: 'Gerade werden zu viele Home-Ordner gelesen oder geschrieben. Versuche es in einer Minute noch einmal.',
  noFile: 'Das ist weder eine Datei noch ein Ordner und lässt sich deshalb nicht herunterladen.',
  noFilesHere: 'Dateien gestoppter Container lassen sich hier nicht lesen. Frag deinen Administrator.',
  mountPoint: 'An diesem Pfad wird ein Ordner einer Gruppe oder des Betreibers gezeigt; er lässt sich nicht löschen.',
  fileRemoved: '{path} ist gelöscht.',
  ownerChanged: '{changed, number} von {seen, number} Dateien und Ordnern gehören jetzt dem neuen Konto.',
  ownerKept:
    'Es ist nichts zu ändern: Auf dieser Engine ist jedes Programm Mitglied der Gruppe, der sein Home gehört, und kann dort schreiben.',
  ownerFailed:
    'Nicht alle Dateien konnten dem neuen Konto gegeben werden; das Protokoll sagt, welche und warum. Was geändert wurde, bleibt so: Ruf es noch einmal auf, dann wird der Rest erledigt.',
  noProblem:
    'Es ist kein Programm bekannt, das in dieses Home nicht schreiben kann. Gib an, welchem Konto das Home gehören soll: --to, als uid oder uid:gid.',
  noHomeYet: 'Es gibt noch keine Dateien: Starte den Container einmal.',
  reset: 'Mit dem nächsten Start ist der Home-Ordner wie neu. Was darin war, ist in einem Sicherungspunkt.',
  made: 'Der Sicherungspunkt ist erstellt.',
  removed: 'Der Sicherungspunkt ist entfernt.',
  restored: 'Die Dateien sind im Ordner {folder} des Home-Ordners. Nichts wurde überschrieben.',
  badArchive: 'Das ist kein vollständiges Archiv. Sende eine Datei, die tar erstellt hat: .tar oder .tar.gz.',
  badName: 'Das Archiv hat einen Eintrag, der nicht unter einen Ordner gehört: {name}. Nichts wurde ausgepackt.',
  fileAndFolder: 'Das Archiv hat {name} zweimal, als Datei und als Ordner. Nichts wurde ausgepackt.',
  longHeader:
    'Das Archiv hat einen Eintrag, dessen Name oder Attribute länger sind, als ein Dateisystem zulässt. Nichts wurde ausgepackt.',
  missingTarget:
    'Das Archiv hat einen harten Link auf etwas, das nicht vor ihm steht: {name}. Nichts wurde ausgepackt.',
  sparseArchive:
    'Das Archiv hat Sparse-Dateien oder besteht aus mehreren Teilen. Erstelle es neu, ohne --sparse und --multi-volume.',
  tooManyFiles: 'Das Archiv hat mehr als {max, number} Einträge. Sende es in Teilen.',
  tooManyFolders: 'Das Archiv hat zu viele Ordner und Verknüpfungen. Sende es in Teilen.',
  tooMuchMetadata:
    'Namen und Attribute der Einträge brauchen im Archiv mehr Platz, als ein solches Archiv benötigt. Lass Attribute weg, oder sende es in Teilen.',
  uploadTooLarge: 'Das Archiv ist ausgepackt größer als {size}; das ist die Grenze. Sende es in Teilen.',
  noRoom: 'In deinen Home-Ordnern ist nur noch Platz für {size}. Lösche zuerst, was du nicht brauchst.',
  uploadStopped: 'Das Archiv kam nicht an: Eine Weile kam nichts, oder es dauerte zu lange. Nichts wurde ausgepackt.',
  uploadTooSlow:
    'Das Archiv kam zu langsam: Mindestens {size} in der Minute müssen ankommen. Nichts wurde ausgepackt. Nimm eine schnellere Leitung, oder sende weniger auf einmal.',
  uploadUnderWay: 'Für diesen Home-Ordner wird schon ein Archiv gesendet. Warte, bis es da ist.',
  uploaded: 'Die Dateien sind im Ordner {folder} des Home-Ordners. Nichts wurde überschrieben.',
  tooManyDownloads: 'Du hast zu viele Downloads gleichzeitig. Warte, bis einer davon fertig ist.',
}
