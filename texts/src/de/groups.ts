import type { Translated } from '#/english.ts'

export const groups: Translated<'groups'> = {
  groupNotFound: 'Diese Gruppe gibt es nicht.',
  memberNotFound: 'Dieses Konto ist nicht Mitglied der Gruppe.',
  unknownZone: 'Es gibt keine Zeitzone {zone}. Nenne eine wie Europe/Berlin.',
  unknownDate: 'Den Tag {date} gibt es nicht. Schreibe ihn wie 2026-12-24.',
  invitationNotFound: 'Diese Einladung gibt es nicht; vielleicht wurde sie angenommen.',
  invitationNotMailed:
    'Die E-Mail wurde nicht verschickt: Der Mailserver hat sie nicht angenommen, oder die Adresse bekam zu viele E-Mails in dieser Stunde. Die Einladung bleibt; versuche es später noch einmal.',
  failureNotFound: 'Es gibt keinen fehlgeschlagenen Start dieses Containers, oder er ist länger als zehn Minuten her.',
  memberBlocked:
    'Dieses Konto ist gesperrt, deshalb werden seine Container nicht gestartet. Wende dich an einen Administrator.',
  memberMayNot:
    'Dieses Konto darf Container dieses Typs jetzt nicht starten: Er ist für andere Gruppen, oder eine andere Gruppe des Kontos ist beendet. Wende dich an einen Administrator.',
  joinCodeNotFound: 'Keine Gruppe hat diesen Code. Prüfe die Schreibweise oder bitte um einen neuen: Codes laufen ab.',
  notManager: 'Das dürfen nur, wer diese Gruppe leitet, und die Administratoren.',
  tooManyInvitations:
    'Zu viele Einladungen: höchstens {max} E-Mails in einer Stunde. Diese Adressen wurden weder hinzugefügt noch eingeladen. Lade sie später ein, frage einen Administrator oder gib einen Beitrittscode aus.',
  tooManyCodes: 'Zu viele falsche Codes: höchstens {max} in der Minute. Versuche es gleich noch einmal.',
  typeOfGroups:
    'Dieser Containertyp ist nur für Mitglieder bestimmter Gruppen. Wenn du einen Beitrittscode hast, gib ihn ein; sonst frage deinen Administrator.',
  expired:
    'Die Gruppe {group} ist beendet, deshalb werden ihre Container nicht mehr gestartet. Deine Dateien bleiben erhalten; wende dich an deinen Administrator, wenn du sie brauchst.',
  tooManyRunning:
    'Die Gruppe {group} erlaubt jedem Mitglied {max, plural, one {{max} laufenden Container} other {{max} laufende Container}}. Stoppe zuerst einen anderen.',
  tooMuchMemory:
    'Die Gruppe {group} erlaubt den Containern eines Mitglieds zusammen {max} Arbeitsspeicher, und dieser braucht {needed}. Stoppe zuerst einen anderen.',
  tooManyCpus:
    'Die Gruppe {group} erlaubt den Containern eines Mitglieds zusammen {max} Kerne, und dieser braucht {needed}. Stoppe zuerst einen anderen.',
  tooManyGpus:
    'Die Gruppe {group} erlaubt den Containern eines Mitglieds zusammen {max, plural, one {{max} GPU} other {{max} GPUs}}, und dieser braucht {needed}. Stoppe zuerst einen anderen.',
  gpusTooFew:
    'Die Gruppe {group} erlaubt den Containern eines Mitglieds zusammen {max, plural, one {{max} GPU} other {{max} GPUs}}, und dieser allein braucht {needed}. Wende dich an einen Administrator.',
  memoryTooSmall:
    'Die Gruppe {group} erlaubt den Containern eines Mitglieds zusammen {max} Arbeitsspeicher, und dieser allein braucht {needed}. Wende dich an deinen Administrator.',
  cpusTooFew:
    'Die Gruppe {group} erlaubt den Containern eines Mitglieds zusammen {max} Kerne, und dieser allein braucht {needed}. Wende dich an deinen Administrator.',
  tooMuchDisk:
    'Deine Dateien belegen {used} von den {max}, die die Gruppe {group} erlaubt. Lösche welche unter „Dateien“ auf der Karte eines gestoppten Containers oder bitte deinen Administrator um mehr Platz.',
  tooMuchDiskBut:
    'Deine Dateien belegen {used} von den {max}, die die Gruppe {group} erlaubt. Lösche welche in {name}, das noch startet, oder unter „Dateien“ auf der Karte eines gestoppten Containers, oder bitte deinen Administrator um mehr Platz.',

  nameTaken: 'Es gibt schon eine Gruppe mit diesem Namen. Wähle einen anderen.',
  folderNameTaken: 'Eine andere Gruppe hat einen Ordner mit diesem Namen. Wähle einen anderen.',
  folderNotFound: 'Die Gruppe hat keinen Ordner.',
  folderRemoved: 'Der Ordner ist entfernt. Sein Inhalt bleibt und ist wieder da, wenn die Gruppe einen Ordner bekommt.',
  folderPurged: 'Der Ordner ist entfernt. Sein Inhalt wird gelöscht, sobald kein Container mehr mit ihm läuft.',
  unknownTypes: 'Diese Containertypen gibt es nicht: {types}. Bekannt sind: {known}.',
  providerName: 'Der Anbieter {source} benennt diese Gruppe, deshalb lässt sich ihr Name hier nicht ändern.',
  providerMembers:
    'Der Anbieter {source} bestimmt, wer in dieser Gruppe ist, deshalb lassen sich ihre Mitglieder hier nicht ändern.',
  providerMembership:
    'Der Anbieter {source} sagt bei jeder Anmeldung, dass dieses Konto in der Gruppe ist. Ändere es dort.',
  groupOver:
    'Diese Gruppe ist beendet, deshalb kann ihr niemand mehr beitreten. Frag die Person nach einem anderen Code, von der du ihn hast.',

  deleted: 'Die Gruppe ist gelöscht. Konten, Container und Dateien bleiben.',
  invitationWithdrawn: 'Die Einladung ist zurückgezogen.',
  invitationResent: 'Eine neue E-Mail ging an {email}.',
  memberRemoved: 'Das Konto ist nicht mehr Mitglied.',
  joinCodeRemoved: 'Der Beitrittscode gilt nicht mehr.',
  stopped:
    '{count, plural, =0 {Kein Container lief.} one {{count} Container ist gestoppt.} other {{count} Container sind gestoppt.}}',
  stoppedBut:
    '{count, plural, =0 {Noch ist kein Container gestoppt.} one {{count} Container ist gestoppt.} other {{count} Container sind gestoppt.}}{failed, plural, =0 {} one { Einer ließ sich nicht stoppen, weil die Container-Engine es nicht getan hat. Versuche es noch einmal.} other { {failed} ließen sich nicht stoppen, weil die Container-Engine es nicht getan hat. Versuche es noch einmal.}}{underWay, plural, =0 {} one { Einer wird noch gestoppt.} other { {underWay} werden noch gestoppt.}}',
  starting:
    '{count, plural, =0 {Alle Container dieses Typs laufen schon.} one {Der Start eines Containers ist veranlasst.} other {Der Start von {count} Containern ist veranlasst.}}',
  startingBut:
    '{count, plural, =0 {Kein Start ist veranlasst.} one {Der Start eines Containers ist veranlasst.} other {Der Start von {count} Containern ist veranlasst.}} Nicht gestartet: {refused}. {why}',
  whyInRows: 'Warum, steht in der Liste der Mitglieder.',
  restarting: 'Der Container wird neu gestartet.',
  blocked: '{count, plural, one {{count} Container} other {{count} Container}} gesperrt.',
  unblocked: '{count, plural, one {{count} Container} other {{count} Container}} entsperrt.',

  unknownInTemplates:
    'Vorlagen nennen Gruppen, die es nicht gibt: {names}. Bis es sie gibt, dürfen nur Administratoren diese Typen starten, wenn keine weitere Gruppe genannt ist.',
  invitedSubject: 'Du bist zu {group} auf {product} eingeladen',
  invitedIntro:
    'Du bist zur Gruppe {group} auf {product} eingeladen: {by} hat ein Konto für dich angelegt. Öffne diesen Link, um es zu benutzen:',
  invited:
    'Du bekommst diese E-Mail, weil {by} die Adresse {to} zur Gruppe {group} auf {product} eingeladen hat. Wenn du nicht weißt, warum, brauchst du nichts zu tun: Ohne den Link geschieht nichts.',
}

export const termEnd: Translated<'termEnd'> = {
  engineCannot:
    'Bei dieser Engine kann Berth Home-Ordner nicht lesen und deshalb nicht archivieren. Nichts wurde verändert.',
  engineSilent:
    'Die Engine antwortet nicht, deshalb sind die Home-Ordner nicht bekannt. Nichts wurde verändert; versuche es noch einmal.',
  nodesNeedFolder:
    'Mit mehreren Knoten brauchen Archive einen Ordner, den alle Knoten gemeinsam haben. Der Betreiber setzt ihn als ARCHIVE_DIR. Nichts wurde verändert.',
  badDates: 'Archive müssen länger als bis zum Entfernen und höchstens zwei Jahre aufbewahrt werden.',
  noRoom:
    'Die Home-Ordner belegen {needed}, auf der Platte der Archive sind noch {free} frei. Schaffe Platz oder setze ARCHIVE_DIR auf eine andere Platte. Nichts wurde verändert.',
  underWay: 'Für diese Gruppe läuft schon ein Kursende. Warte darauf oder brich es zuerst ab.',
  none: 'Für diese Gruppe läuft kein Kursende.',
  tooLate: 'Das Entfernen hat begonnen; das Kursende lässt sich nicht mehr abbrechen.',
  nothingFailed: 'Alles ist erledigt; nichts ist fehlgeschlagen.',
  groupGoesOn:
    'Die Gruppe hat ein späteres oder kein Ende bekommen; von ihren Mitgliedern wird nichts entfernt. Beginne ein neues Kursende, wenn die Gruppe zu Ende ist.',
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
