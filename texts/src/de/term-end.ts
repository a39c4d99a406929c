import type { Translated } from '#/catalogue.ts'

export const termEnd: Translated<'termEnd'> = {
  engineCannot:
    'Bei dieser Engine kann Berth Home-Ordner nicht lesen und deshalb nicht archivieren. Nichts wurde verändert.',
  engineSilent:
    'Die Engine antwortet nicht, deshalb sind die Home-Ordner nicht bekannt. Nichts wurde verändert; versuche es noch einmal.',
  nodesNeedFolder:
    'Mit mehreren Knoten brauchen Archive einen Ordner, den alle Knoten gemeinsam haben. Der Betreiber setzt ihn als ARCHIVE_DIR. Nichts wurde verändert.',
  badDates: 'Archive müssen länger als bis zum Entfernen und höchstens zwei Jahre aufbewahrt werden.',
  noRoom:
    'Die Home-Ordner haben {needed}, auf der Platte der Archive sind noch {free} frei. Schaffe Platz oder setze ARCHIVE_DIR auf eine andere Platte. Nichts wurde verändert.',
  underWay: 'Für diese Gruppe läuft schon ein Kursende. Warte darauf oder brich es zuerst ab.',
  none: 'Für diese Gruppe läuft kein Kursende.',
  tooLate: 'Das Entfernen hat begonnen; das Kursende lässt sich nicht mehr abbrechen.',
  nothingFailed: 'Alles ist erledigt; nichts ist fehlgeschlagen.',
  late: 'Das Datum, bis zu dem Archive aufbewahrt wurden, ist vorbei; was übrig war, bleibt. Beginne ein neues Kursende.',
  notOver: 'Das Kursende ist für dieses Mitglied nicht vorbei. Warte darauf oder brich es zuerst ab.',
  memberForgotten: 'Die Archive dieses Mitglieds sind gelöscht, und mit ihnen die Adresse.',
  cancelled: 'Das Kursende ist abgebrochen. Die Archive sind gelöscht, und die Gruppe endet wie zuvor.',
  mailSubject: '{group}: Lade deine Dateien herunter',
  mailIntro:
    '{group} bei {product} ist zu Ende. Deine Dateien wurden archiviert. Öffne diesen Link, um sie herunterzuladen:',
  mailUntil: 'Das Archiv wird am {date} gelöscht.',
  mailAccount: 'Das Konto {to} und seine Dateien bei diesem Dienst werden ab {date} entfernt.',
  mailWhy:
    'Du erhältst diese E-Mail, weil {to} bei {product} Mitglied von {group} ist. Wer diesen Link hat, kann die Dateien herunterladen: Gib ihn nicht weiter.',
  mailButton: 'Dateien herunterladen',
  tooManyDownloads: 'Diese Dateien wurden {max}-mal heruntergeladen; öfter erlaubt es der Link nicht.',
  archiveNotFound:
    'Hinter diesem Link ist kein Archiv: Es wurde gelöscht, das Kursende wurde abgebrochen, oder der Link ist unvollständig.',
}
