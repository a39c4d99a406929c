import type { Translated } from '#/english.ts'

export const refusals: Translated<'refusals'> = {
  missingBody: `Die Anfrage hat keinen Inhalt. Schicke JSON wie '{"email": "du@example.org"}'.`,
  notJson: 'Der Inhalt ist kein gültiges JSON. Prüfe seine Syntax.',
  missingEmail: `Die E-Mail-Adresse fehlt. Schicke sie als '{"email": "du@example.org"}'.`,
  badEmail: 'An diese Adresse können wir keine E-Mail schicken. Sie sollte aussehen wie du@example.org.',
  missingToken: 'Der Link ist unvollständig: Sein Token fehlt. Öffne den ganzen Link aus der E-Mail.',
  badToken:
    'Dieser Link gilt nicht: Er wurde schon benutzt, ist abgelaufen oder von anderer Art. Lass dir einen neuen schicken.',
  badLogoutToken: 'Dieses Abmeldetoken gilt nicht, deshalb wurde keine Sitzung beendet.',
  prefetched: 'Diese Anfrage lädt nur vorab und löst den Link nicht ein. Öffne die Seite und drücke auf ihren Knopf.',
  noParameters: 'Bei diesem Containertyp gibt es keine Parameter zu wählen. Starte ihn ohne.',
  unknownParameter: 'Den Parameter {name} gibt es nicht. Bekannte Parameter: {names}.',
  parameterChoice: 'Der Parameter {name} muss einer dieser Werte sein: {choices}.',
  parameterBoolean: 'Der Parameter {name} muss true oder false sein.',
  parameterNumber: 'Der Parameter {name} muss eine Zahl sein.',
  parameterMin: 'Der Parameter {name} muss mindestens {limit} sein.',
  parameterMax: 'Der Parameter {name} darf höchstens {limit} sein.',
  parameterText: 'Der Parameter {name} muss Text ohne Nullzeichen sein.',
  parameterMinLength: 'Der Parameter {name} muss mindestens {limit} Zeichen haben.',
  parameterMaxLength: 'Der Parameter {name} darf höchstens {limit} Zeichen haben.',
  unknownType: 'Diesen Containertyp gibt es nicht. Bekannte Typen: {types}.',
  noToken: 'Melde dich zuerst an: Hierfür ist ein Zugriffstoken nötig.',
  invalidToken: 'Deine Anmeldung ist abgelaufen: Ihr Zugriffstoken gilt nicht mehr. Melde dich neu an.',
  tossedTokens: 'Der Browser hat mehrere Zugriffstoken geschickt, deshalb gilt keines davon. Melde dich neu an.',
  noSession: 'In diesem Browser gibt es keine Anmeldung. Melde dich an.',
  sessionExpired: 'Deine Anmeldung ist abgelaufen, weil sie lange nicht benutzt wurde. Melde dich neu an.',
  sessionEnded: 'Deine Anmeldung wurde beendet, hier oder von einem anderen Gerät aus. Melde dich neu an.',
  sessionReplayed:
    'Deine Anmeldung wurde zum Schutz des Kontos beendet: Eine alte Kopie davon wurde benutzt. Melde dich neu an, und sage deinem Administrator Bescheid, wenn du das nicht warst.',
  sessionBlocked:
    'Deine Anmeldung endete, als dieses Konto gesperrt wurde. Melde dich wieder an, sobald es entsperrt ist; mehr weiß dein Administrator.',
  takeoverNotRenewed:
    'In diesem Browser handelt ein Administrator für einen anderen Benutzer, darum wird die Anmeldung nicht verlängert. Beende zuerst die Übernahme.',
  userBlocked: 'Dieses Konto ist gesperrt. Wende dich an deinen Administrator.',
  notVerified:
    'Dieses Konto ist noch nicht bestätigt. Benutze zuerst den Link aus der Registrierung, oder lass dir einen neuen schicken.',
  notRestarted: 'Der Container oder sein Konto ist gesperrt, also wird er nicht neu gestartet. Entsperre ihn zuerst.',
  containerBlocked: 'Dieser Container ist gesperrt. Wende dich an deinen Administrator.',
  userBlockedFromContainers:
    'Dieses Konto ist gesperrt, deshalb können seine Container nicht gestartet werden. Wende dich an deinen Administrator.',
  metricsClosed:
    'Die Messwerte sind nicht öffentlich. Sende „Authorization: Bearer“ mit dem METRICS_TOKEN dieses Berth; ohne diese Einstellung gibt es sie nur auf dem Server selbst.',
  noSignInByLink: 'Hier werden keine Links verschickt. Melde dich mit einem der Knöpfe der Anmeldeseite an.',
  takenOver:
    'In dieser Sitzung handelt ein Administrator für den Inhaber des Kontos. Verwalten und Sitzungen beenden darf sie nicht. Beende zuerst die Übernahme.',
  notAdministrator:
    'Das dürfen nur Administratoren. Wende dich an einen von ihnen, oder melde dich mit einem anderen Konto an.',
  missingScope: 'Dieses API-Token hat nicht das Recht {scope}. Erstelle eines, das es hat.',
  notForApiTokens: 'Das darf kein API-Token, welche Rechte es auch hat. Melde dich mit einem Browser an.',
  adminScope: 'Nur Administratoren dürfen API-Token mit einem Recht haben, das mit admin beginnt.',
  forgeable:
    'Ein Browser darf das nur von einer eigenen Seite dieser Website aus. Öffne die Website über ihre Adresse; wenn sie mit http beginnt, melde dich neu an.',
  noNavigation:
    'Diese Adresse führt einen Browser zu einer Seite weiter. Sie antwortet keinem Skript, keinem Bild und keinem Vorabruf: Öffne die Seite selbst.',
  userGone: 'Das Konto zu diesem Token gibt es nicht mehr.',
  userNotFound: 'Dieses Konto gibt es nicht.',
  containerNotFound: 'Diesen Container gibt es nicht.',
  sessionNotFound: 'Diese Sitzung gibt es nicht.',
  tokenNotFound: 'Dieses API-Token gibt es nicht.',
  sshKeyNotFound: 'Diesen SSH-Schlüssel gibt es nicht.',
  sshServerNotFound: 'Dieses Berth hat keinen SSH-Server.',
  shareNotFound: 'Diese Freigabe gibt es nicht; vielleicht ist sie beendet.',
  lookRequestNotFound: 'Diese Anfrage gibt es nicht; vielleicht ist sie beantwortet oder abgelaufen.',
  homeNotFound: 'Dieses Home gibt es nicht; vielleicht wurde es entfernt.',
  snapshotNotFound: 'Diesen Sicherungspunkt gibt es nicht; vielleicht wurde er entfernt.',
  pathNotFound: 'Diesen Pfad gibt es im Sicherungspunkt nicht. Pfade beginnen im Home-Ordner, etwa notizen/2026.',
  providerNotFound: 'Auf diesem Weg kann man sich nicht anmelden. Öffne die Anmeldeseite und wähle einen.',
  addressNotFound: 'Unter dieser Adresse gibt es nichts. Prüfe ihre Schreibweise.',
  wrongMethod: 'Diese Adresse antwortet nur auf {methods}.',
  tooLarge: 'Der Inhalt ist zu groß: Hier werden höchstens {limit} Bytes angenommen.',
  tooManyLinks:
    'An diese Adresse gingen zu viele Links: höchstens {perHour} in der Stunde. Benutze den neuesten, oder versuche es später noch einmal.',
  tooManyRequests:
    'Von deiner Netzwerkadresse kamen zu viele Anfragen: höchstens {perMinute} in der Minute. Versuche es gleich noch einmal.',
  tooManyForMailbox:
    'Aus deinem Netz kamen zu viele Anfragen für diese Mailadresse: höchstens {perMinute} in der Minute. Nimm die neueste Mail, oder versuche es gleich noch einmal.',
  tooManyOwnChanges:
    'Du hast in kurzer Zeit zu viel geändert: Höchstens {perHour} Änderungen in der Stunde werden protokolliert. Versuche es später noch einmal.',
  tooManyStreams: 'Zu viele deiner Seiten verfolgen schon deine Container. Schließe einige davon.',
  tooManyAtOnce:
    'Von dir sind schon {max} Anfragen unterwegs. Warte, bis einige davon beantwortet sind, und versuche es dann noch einmal.',
  streamsFull:
    'Es verfolgen schon so viele Seiten Container und Ausgaben, wie dieser Server bedienen kann. Versuche es in einer halben Minute noch einmal; alles andere funktioniert.',
  stopFailed:
    'Die Container-Engine antwortet nicht, oder sie konnte den Container nicht stoppen. Versuche es gleich noch einmal.',
  linkHost:
    'Dateien von diesem Server sind hier nicht erlaubt. Bitte deine Administration, ihn zu erlauben, oder hole die Dateien selbst.',
  badLink:
    'Der Link nennt kein Git-Repository, keinen Zweig oder keinen Ordner, der zu verwenden ist. Frag, wer dir den Link gegeben hat.',
  noHomeForFiles:
    'In diesen Container lassen sich jetzt keine Dateien legen. Starte ihn zuerst; wenn er läuft, hole die Dateien selbst.',
  filesFailed:
    'Die Dateien ließen sich nicht holen oder nicht in deinen Home-Ordner legen. Von dir wurde nichts geändert. Versuche es in einer Minute noch einmal; wenn das nicht hilft, frag, wer dir den Link gegeben hat, ob Repository und Zweig stimmen.',
  keepFailed:
    'Die Container-Engine antwortet zu diesem Container nicht, deshalb ist nicht bekannt, ob er läuft. Versuche es gleich noch einmal.',
  portsOfStopped: 'Dieser Container läuft nicht, also lauscht darin nichts. Öffne ihn zuerst.',
  portsUnknown:
    'Was in diesem Container lauscht, lässt sich gerade nicht feststellen. Versuche es gleich noch einmal; ein Container, den ein älteres Berth angelegt hat, muss zuerst neu gestartet werden.',
  logsFailed:
    'Die Container-Engine antwortet nicht, deshalb ist dort gerade nichts zu lesen. Versuche es gleich noch einmal.',
  storeFailed:
    'Die Datenbank antwortet nicht, oder sie kann gerade nicht schreiben. Versuche es in einer Minute noch einmal.',
  mailFailed:
    'Die E-Mail konnte nicht verschickt werden. Es wurde nichts geändert; versuche es in ein paar Minuten noch einmal.',
  containerDeleted:
    'Ein Administrator hat diesen Container gelöscht, während er startete. Starte ihn noch einmal, dann entsteht ein neuer.',
  launchStopped: 'Dieser Container wurde gestoppt, bevor er lief. Starte ihn wieder, wenn du ihn brauchst.',
  restartFailed: '{why} Deine Dateien sind sicher.',
  launchGoesOn: '{howFar} Der Start geht weiter; frage gleich noch einmal.',
  tooManyOfYours: 'Von dir laufen schon {max} Container, mehr dürfen es nicht sein. Stoppe zuerst einen davon.',
  serverFull:
    'Der Server hat gerade keinen Platz für einen weiteren Container. Es geht nichts verloren; versuche es in ein paar Minuten noch einmal.',
  gpusTaken:
    'Alle GPUs sind belegt, und für deinen Container wurde nicht rechtzeitig eine frei. Es geht nichts verloren; versuche es später noch einmal.',
  tooManyLaunches: 'Zu viele Container warten schon auf ihren Start. Versuche es in ein paar Minuten noch einmal.',
  diskFull:
    'Deine Dateien belegen {used} von den {max}, die sie belegen dürfen, deshalb wird nichts gestartet. Lösche welche unter „Dateien“ auf der Karte eines gestoppten Containers oder bitte deinen Administrator um mehr Platz.',
  diskFullBut:
    'Deine Dateien belegen {used} von den {max}, die sie belegen dürfen, deshalb wird nichts gestartet. Lösche welche in {name}, das noch startet, oder unter „Dateien“ auf der Karte eines gestoppten Containers, oder bitte deinen Administrator um mehr Platz.',
  homeUnmeasured:
    'Die Dateien in deinem Home-Ordner von {name} lassen sich nicht messen, deshalb wird nichts anderes von dir gestartet. Vielleicht sind Ordner darin zu tief verschachtelt: Lösche oder verschiebe sie in {name}, das noch startet, oder frage deinen Administrator.',
  endsAgain:
    'Der Container wurde nicht gestartet, weil sein Programm nach jedem der letzten Starts endete. Starte ihn selbst, um es noch einmal zu versuchen.',
  tooManySignIns:
    'In diesem Moment warten zu viele Anfragen nach einem Link, darum wurde keiner verschickt. Versuche es in zehn Sekunden noch einmal.',
  tooManyChanges:
    'In diesem Moment werden zu viele Änderungen von Administratoren ausgeführt, darum wurde diese nicht gemacht. Versuche es in ein paar Sekunden noch einmal.',
  auditTooLong:
    'Das Protokoll konnte nicht innerhalb von {seconds} Sekunden geprüft werden. Rufe auf dem Server „berth audit verify“ auf: Das hat kein Zeitlimit.',
  stopping:
    'Der Dienst wird gerade beendet, deshalb wird nichts gestartet. Es geht nichts verloren; versuche es in einer Minute noch einmal.',
  bug: 'Ein interner Fehler ist aufgetreten und wurde protokolliert. Versuche es noch einmal; wenn er wieder auftritt, wende dich an deinen Administrator.',
}
