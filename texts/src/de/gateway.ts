import type { Translated } from '#/catalogue.ts'

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
    'Unter dieser Adresse gibt es keinen Container. Prüfe ihre Schreibweise, oder öffne den Container in der Übersicht.',
  callerBlocked: 'Dieses Konto ist gesperrt. Wende dich an deinen Administrator.',
  notYours:
    'Dieser Container gehört einer anderen Person. Frage sie, oder öffne deine eigenen Container in der Übersicht.',
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
    'Solange du für eine andere Person handelst, öffnen sich deren Container nicht in deinem Browser: Eine Seite daraus hätte dieselbe Adresse wie deine eigenen Container und könnte nach der Übernahme als du weitermachen. Lies das Protokoll des Containers in der Übersicht, oder lass ihn dir vom Besitzer zeigen.',
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
  appNotReady: 'Die App in diesem Container startet noch. Versuche es gleich noch einmal.',
  appFailed: 'Die App in diesem Container antwortet nicht richtig. Versuche es gleich noch einmal.',
  bug: 'Ein interner Fehler ist aufgetreten. Versuche es gleich noch einmal; wenn er wieder auftritt, wende dich an deinen Administrator.',
  absent: '{title}. {what} {todo}',
}
