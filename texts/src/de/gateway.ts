import type { Translated } from '#/english.ts'

export const gateway: Translated<'gateway'> = {
  badMessage: 'Diese Anfrage ist ungültig. {why}',
  badTarget: 'Diese Adresse ist ungültig. {why}',
  headTooLarge: 'Adresse, Kopfzeilen und Cookies sind zusammen zu groß: höchstens {limit} Bytes.',
  pathTooLong: 'Diese Adresse ist zu lang: höchstens {max} Bytes vor dem Fragezeichen. Kürze sie.',
  targetTooLong: 'Diese Adresse ist zu lang: höchstens {max} Bytes mit allem nach dem Fragezeichen. Kürze sie.',
  tooManyCookies:
    'Dein Browser hat mehr Cookies geschickt, als in {limit} Bytes passen; wahrscheinlich hat die Seite eines Containers sie gesetzt. Die größten wurden entfernt: Lade die Seite neu.',
  tooSlow: 'Die Anfrage kam nicht rechtzeitig an. Versuche es noch einmal.',
  noToken:
    'Du bist nicht angemeldet, oder deine Anmeldung ist abgelaufen. Lade diese Seite im Browser neu, um dich anzumelden und hierher zurückzukommen; ein Programm muss ein gültiges Zugriffstoken mitschicken.',
  sessionBlocked:
    'Deine Anmeldung endete, als dieses Konto gesperrt wurde, und öffnet deshalb keinen Stream und keinen WebSocket. Das Konto ist entsperrt: Melde dich neu an.',
  apiToken:
    'Ein API-Token öffnet keinen Container: Es ist nur für die API. Melde dich mit einem Browser an, oder schicke es hier nicht mit.',
  secretInAddress:
    'Diese Adresse enthält ein API-Token oder das Cookie, das eine Anmeldung verlängert. Keine App darf das erhalten: Lass es in der Adresse weg. Entferne dieses Token, oder beende diese Anmeldung, denn Adressen werden protokolliert.',
  tokenOfAnotherHost: 'Dieses Zugriffstoken gilt für einen anderen Container. Öffne diesen vom Dashboard aus.',
  tossedTokens: 'Der Browser hat mehrere Zugriffstoken geschickt, deshalb gilt keines davon. Melde dich neu an.',
  nothingHere:
    'Unter dieser Adresse gibt es keinen Container. Prüfe ihre Schreibweise, oder öffne den Container im Dashboard.',
  callerBlocked: 'Dieses Konto ist gesperrt. Wende dich an deinen Administrator.',
  notYours:
    'Dieser Container gehört einer anderen Person. Frage sie, oder öffne deine eigenen Container im Dashboard.',
  shareIsForLooking:
    'Du darfst diesen Container ansehen, aber nicht benutzen: Anfragen, die etwas ändern, und WebSockets werden abgelehnt.',
  containerBlocked: 'Dieser Container ist gesperrt. Wende dich an deinen Administrator.',
  foreignOrigin:
    'Einen WebSocket darf nur eine Seite dieses Servers öffnen. Öffne die App unter ihrer eigenen Adresse.',
  foreignPage:
    'Eine Seite einer anderen Adresse hat dies mit deiner Anmeldung angefragt. Öffne die App unter ihrer eigenen Adresse in einem eigenen Fenster.',
  entryRefused:
    'Dieser Weg in einen Container wurde schon benutzt, ist abgelaufen oder wurde in einem anderen Browser begonnen. Öffne den Container erneut.',
  isolatedWorker:
    'Nur der Besitzer eines Containers darf einen Worker dafür anmelden: Er würde in deinem Browser weiterlaufen.',
  pageWhileActing:
    'Solange du für eine andere Person handelst, öffnen sich deren Container nicht in deinem Browser: Eine Seite daraus hätte dieselbe Adresse wie deine eigenen Container und könnte nach der Übernahme als du weitermachen. Lies das Protokoll des Containers im Dashboard, oder lass ihn dir vom Besitzer zeigen.',
  workerOnBarePrefix:
    'Unter dieser Adresse darf kein Service-Worker angemeldet werden: Er würde auch andere Container erreichen.',
  tooManyConnections: 'Im Moment sind zu viele Verbindungen offen. Versuche es gleich noch einmal.',
  tooManyOfYours: 'Du hast zu viele Verbindungen offen: höchstens {max}. Schließe zuerst einige Seiten.',
  starting: 'Der Dienst startet gerade. Versuche es in einer Sekunde noch einmal.',
  behind:
    'Dieser Knoten des Dienstes hat die Verbindung zu den anderen verloren und öffnet keinen Container, bis sie wieder da ist. Versuche es gleich noch einmal.',
  platformDown: 'Der Dienst startet neu; was offen ist, bleibt offen. Versuche es gleich noch einmal.',
  shuttingDown: 'Der Dienst startet neu. Versuche es gleich noch einmal.',
  changed: 'Dieser Container wurde gerade geändert. Versuche es noch einmal.',
  nothingListens: 'Auf Port {port} dieses Containers lauscht kein Programm.',
  portUnreachable:
    'Auf Port {port} dieses Containers ist gerade nichts erreichbar. Versuche es gleich noch einmal; ein Container, den ein älteres Berth angelegt hat, muss zuerst neu gestartet werden.',
  appNotReady: 'Die App in diesem Container startet noch. Versuche es gleich noch einmal.',
  appFailed: 'Die App in diesem Container antwortet nicht richtig. Versuche es gleich noch einmal.',
  bug: 'Ein interner Fehler ist aufgetreten. Versuche es gleich noch einmal; wenn er wieder auftritt, wende dich an deinen Administrator.',
  absent: '{title}. {what} {todo}',
}

export const pages: Translated<'pages'> = {
  help: 'Hilfe:',
  imprint: 'Impressum',
  privacy: 'Datenschutz',
  noScript: 'Zum Anmelden braucht {product} JavaScript. Schalte es ein, und lade die Seite neu.',
  openDashboard: 'Zum Dashboard',
  openAgain: 'Container erneut öffnen',
  otherAccount: 'Mit einem anderen Konto anmelden',
  status: 'Status {status}',
  sandboxNote:
    'Diese Seite ist unvollständig oder bleibt leer. Sie gehört zum Container einer anderen Person, und solche Seiten dürfen hier keine Skripte und Stile laden: Das schützt deine eigenen Container. Die Person kann dir als einzelne Seite zeigen, was du brauchst, oder es dir schicken. Ein Administrator kann ganze Anwendungen für Besucher möglich machen, indem jeder Container einen eigenen Host bekommt.',
  dismiss: 'Hinweis schließen',
  lastLines: 'Letzte Zeilen der Ausgabe',

  title400: 'Diese Adresse ist ungültig',
  title403: 'Zugriff verweigert',
  title404: 'Nicht gefunden',
  title405: 'Das geht hier nicht',
  title414: 'Diese Adresse ist zu lang',
  title429: 'Zu viel auf einmal',
  title431: 'Die Anfrage ist zu groß',
  title502: 'Die App antwortet nicht',
  title503: 'Das ist gerade nicht verfügbar',
  title504: 'Die App braucht zu lange',
  titleOther: 'Das hat nicht geklappt',

  startingName: '{name} wird gestartet',
  startingText: '{name} wird gerade für dich gestartet. Diese Seite öffnet es, sobald es antwortet.',
  usuallyTakes: 'Ein Start dauert hier meist etwa {seconds} s.',
  nothingNew: 'Seit einer Minute nichts Neues?',
  steps: 'Schritte',
  stepStarting: 'Der Container wird gestartet',
  stepWaiting: 'Warten, bis die App antwortet',
  answers: 'Sie antwortet. Wird geöffnet…',
  goOn: 'Weiter',
  tryAgain: 'Noch einmal versuchen',
  startIt: 'Starten',
  startItAgain: 'Neu starten',

  filesStay: 'Die Dateien in seinem Home-Ordner bleiben erhalten.',
  deadPortTitle: 'Auf Port {port} lauscht kein Programm',
  deadPortWaits: 'Diese Seite fragt alle paar Sekunden wieder und zeigt das Programm, sobald es lauscht.',
  deadPortOthers: 'Was in diesem Container jetzt lauscht:',
  deadPortNone: 'Auch sonst lauscht in diesem Container nichts.',
  asleepTitle: '{name} ist gestoppt',
  asleepWhat: 'Der Container läuft im Moment nicht. {filesStay}',
  asleepTodo: 'Starte ihn, um dort weiterzumachen, wo du warst.',
  evictedTitle: '{name} wurde vom Cluster beendet',
  evictedWhat:
    'Die Maschine, auf der der Container lief, wurde abgeschaltet oder geräumt, oder ihr fehlte Arbeits- oder Plattenspeicher. Sein Programm hat nichts falsch gemacht. {filesStay}',
  evictedTodo: 'Starte ihn neu: Er läuft dann anderswo. Was in seinem Arbeitsspeicher war, ist verloren.',
  nodeLostTitle: '{name} ist auf einer Maschine, die nicht antwortet',
  nodeLostWhat:
    'Es ist nicht bekannt, ob sein Programm beendet ist, und ein zweites darf nicht in dieselben Dateien schreiben. {filesStay}',
  nodeLostTodo:
    'Versuche es in ein paar Minuten noch einmal: Er startet, sobald die Maschine zurück ist oder dein Administrator sie aus dem Cluster entfernt hat.',
  missingTitle: '{name} ist noch nicht da',
  missingWhat: 'Der Container wurde nie gestartet, oder er wurde entfernt.',
  missingTodo: 'Beim Starten entsteht ein neuer. Hatte er einen Home-Ordner, sind dessen Dateien wieder da.',
  crashedTitle: '{name} hat sich beendet',
  crashedWhat: '{ended} {filesStay}',
  crashedTodo:
    'Starte den Container neu. Endet er wieder, nennen die letzten Zeilen seiner Ausgabe vielleicht den Grund.',
  commandTodo:
    'Ein neuer Start hilft nicht, solange der Befehl fehlt: Wende dich an deinen Administrator. Die letzten Zeilen seiner Ausgabe nennen ihn vielleicht.',
  memoryTitle: '{name} hatte zu wenig Arbeitsspeicher',
  memoryWhat: 'Der Container brauchte mehr Arbeitsspeicher, als er haben darf, und wurde deshalb beendet. {filesStay}',
  memoryWhatCode:
    'Der Container brauchte mehr Arbeitsspeicher, als er haben darf, und wurde deshalb beendet (Exit-Code {exitCode}). {filesStay}',
  memoryTodo: 'Starte ihn neu und mache weniger auf einmal, oder bitte deinen Administrator um mehr Arbeitsspeicher.',
  imageTitle: '{name} fehlt das Image',
  imageWhat: 'Das Image des Containers ist nicht auf diesem Server und konnte nicht geholt werden.',
  imageTodo: 'Bitte deinen Administrator, es bereitzustellen, und versuche es dann noch einmal.',
  refusedTitle: '{name} kann jetzt nicht gestartet werden',
  refusedWhat: '{why}',
  refusedTodo: 'Im Dashboard siehst du, was läuft und was du starten kannst.',
  failedTitle: '{name} konnte nicht gestartet werden',
  failedWhat: 'Der Start hat nicht geklappt. {filesStay}',
  failedWhatCode: 'Der Start hat nicht geklappt. {ended} {filesStay}',
  failedTodo: 'Versuche es noch einmal. Hilft das nicht, wende dich an deinen Administrator.',
  unknownTitle: '{name} ist nicht zu erreichen',
  unknownWhat:
    'Die Container-Engine antwortet nicht, deshalb ist der Zustand des Containers unbekannt. Es geht nichts verloren.',
  unknownTodo: 'Versuche es gleich noch einmal. Bleibt es so, sage deinem Administrator Bescheid.',
  unreachableTitle: '{name} antwortet nicht',
  unreachableWhat: 'Der Container läuft, aber die App darin antwortet nicht. Vielleicht startet sie noch.',
  nothingListensWhat:
    'Der Container läuft, aber auf Port {port} nimmt darin nichts Verbindungen an. Vielleicht startet die App noch, oder sie lauscht auf einem anderen Port oder nur auf 127.0.0.1.',
  nothingListensTodo:
    'Versuche es gleich noch einmal. Bleibt es so, sage deinem Administrator Bescheid: Die App muss auf 0.0.0.0 lauschen, auf dem Port ihrer Vorlage.',
  unreachableTodo: 'Versuche es gleich noch einmal. Bleibt es so, starte den Container im Dashboard neu.',
  blockedTitle: '{name} ist gesperrt',
  blockedWhat: 'Ein Administrator hat den Container gesperrt, er kann weder benutzt noch gestartet werden. {filesStay}',
  blockedTodo: 'Frage deinen Administrator nach dem Grund, und was geschehen muss, damit er die Sperre aufhebt.',

  othersStart: 'Nur wem der Container gehört, kann ihn starten. Bitte darum, und versuche es dann noch einmal.',
  othersAgain: 'Versuche es gleich noch einmal. Bleibt es so, sage Bescheid, wem der Container gehört.',
  othersDashboard: 'Wem der Container gehört, kann den Administrator nach dem Grund fragen.',

  ended: 'Sein Programm hat sich von selbst beendet.',
  exit0: 'Sein Programm endete von selbst, ohne Fehler (Exit-Code {code}).',
  exit126: 'Sein Befehl wurde gefunden, konnte aber nicht ausgeführt werden (Exit-Code {code}).',
  exit127: 'Sein Befehl wurde im Image nicht gefunden (Exit-Code {code}).',
  exit130: 'Sein Programm wurde unterbrochen (Exit-Code {code}).',
  exit132: 'Sein Programm ist abgestürzt: Dieser Prozessor kennt einen seiner Befehle nicht (Exit-Code {code}).',
  exit134: 'Sein Programm hat wegen eines inneren Fehlers aufgegeben (Exit-Code {code}).',
  exit136: 'Sein Programm ist bei einer Rechnung abgestürzt (Exit-Code {code}).',
  exit137: 'Sein Programm wurde abgebrochen, meist weil der Arbeitsspeicher ausging (Exit-Code {code}).',
  exit139: 'Sein Programm ist abgestürzt: Es griff auf fremden Speicher zu (Exit-Code {code}).',
  exit143: 'Sein Programm wurde gebeten, sich zu beenden (Exit-Code {code}).',
  exitSignal: 'Sein Programm wurde durch Signal {signal} beendet (Exit-Code {code}).',
  exitOther: 'Sein Programm endete mit einem eigenen Fehler (Exit-Code {code}).',
}

export const faults: Translated<'faults'> = {
  noName: 'Eine Kopfzeile hat keinen gültigen Namen.',
  badCharacter: 'Eine Kopfzeile enthält ein Zeichen, das dort nicht stehen darf.',
  tooManyHeaders: 'Sie hat mehr als {max} Kopfzeilen.',
  badMethod: 'Ihre Methode ist ungültig.',
  noMethod: 'Sie beginnt nicht mit einer Methode.',
  forbiddenMethod: 'Diese Methode ist hier nicht erlaubt.',
  badFirstLine: 'Ihre erste Zeile ist ungültig.',
  badVersion: 'Nur HTTP/1.1 und HTTP/1.0 werden unterstützt.',
  noPath: 'Ihr Ziel muss ein Pfad sein, der mit einem Schrägstrich beginnt.',
  badTargetCharacter: 'Ihr Ziel enthält ein Zeichen, das in keiner Adresse stehen darf.',
  twoHosts: 'Sie nennt zwei Hosts.',
  twoLengths: 'Sie hat zwei Längen.',
  twoCodings: 'Sie hat zwei Übertragungskodierungen.',
  paddedCoding: 'Ihre Kodierung ist mit Zeichen aufgefüllt.',
  longConnection: 'Sie nennt zu viele Verbindungsoptionen.',
  twoAuthorizations: 'Sie hat zwei Authorization-Kopfzeilen.',
  noHost: 'Sie nennt keinen Host.',
  badHost: 'Ihr Host ist ungültig.',
  lengthAndCoding: 'Sie hat eine Länge und eine Übertragungskodierung.',
  unknownCoding: 'Nur die Übertragungskodierung „chunked“ wird unterstützt.',
  lengthInTwoWays: 'Sie gibt auf zwei Arten an, wie lang sie ist.',
  codingInHttp10: 'In HTTP/1.0 gibt es keine Übertragungskodierung.',
  badLength: 'Ihre Länge ist keine Zahl.',
  longChunkLine: 'Ein Stück ihres Inhalts beginnt mit einer zu langen Zeile.',
  longFraming: 'Ihre Stücke haben weit mehr Rahmen als Inhalt.',
  longChunk: 'Ein Stück ihres Inhalts ist länger, als es angibt.',
  badChunkLine: 'Eine Zeile ihres Inhalts endet nicht mit CRLF.',
  noChunkSize: 'Ein Stück ihres Inhalts gibt seine Größe nicht an.',
  longTrailers: 'Ihre Zeilen nach dem Inhalt sind zu lang.',
  badTrailers: 'Ihre Zeilen nach dem Inhalt geben eine Länge an.',
  oneSlash: 'Sie muss mit genau einem Schrägstrich beginnen.',
  backslash: 'Sie enthält einen umgekehrten Schrägstrich.',
  badEscape: 'Sie enthält ein Prozentzeichen, auf das keine gültigen Ziffern folgen.',
  climbs: 'Ihre Abschnitte „..“ führen aus dem Container hinaus.',
}
