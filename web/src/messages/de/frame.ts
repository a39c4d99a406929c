import type { Words } from '#/messages/words.ts'

export const frame: Words['frame'] = {
  product: 'Berth',
  tagline: 'Deine eigenen Container, im Browser',
  documentTitle: '{page} · Berth',
  skip: 'Zum Inhalt springen',
  loading: 'Wird geladen…',
  nav: {
    label: 'Seiten',
    account: 'Konto',
    containers: 'Deine Container',
    sessions: 'Wo du angemeldet bist',
    tokens: 'API-Token',
    data: 'Deine Daten',
    admin: 'Verwaltung',
    signOut: 'Abmelden',
    signingOut: 'Du wirst abgemeldet…',
    stillSignedIn: 'Du bist noch angemeldet.',
  },
  language: { label: 'Sprache', en: 'English', de: 'Deutsch' },
  help: 'Hilfe:',
  imprint: 'Impressum',
  privacy: 'Datenschutz',
  notices: 'Hinweise',
  problem: {
    late: 'Berth hat nicht rechtzeitig geantwortet. Vielleicht arbeitet es noch daran: Warte einen Moment und versuche es dann noch einmal.',
    unreachable: 'Berth ist nicht erreichbar. Prüfe deine Verbindung und versuche es dann noch einmal.',
    bug: 'Auf dieser Seite ist ein Programmfehler aufgetreten. Lade sie neu und versuche es noch einmal.',
    tryAgain: 'Noch einmal versuchen',
  },
  connectivity: {
    offline:
      'Dieses Gerät ist offline. Was du siehst, kann veraltet sein. Die Seite aktualisiert sich von selbst, sobald die Verbindung wieder da ist.',
    unreachable:
      'Berth ist gerade nicht erreichbar. Deine Container betrifft das nicht. Die Seite aktualisiert sich von selbst, sobald Berth wieder antwortet.',
    back: 'Berth ist wieder erreichbar.',
  },
  notFound: {
    title: 'Seite nicht gefunden',
    what: 'Unter dieser Adresse gibt es keine Seite. Vielleicht ist sie vertippt, oder der Link ist veraltet.',
    todo: 'Prüfe die Adresse oder geh zur Startseite.',
    button: 'Zur Startseite',
  },
  forbidden: {
    title: 'Zugriff verweigert',
    what: 'Diese Seite ist für Administratoren, und dein Konto hat keine Administratorrechte.',
    todo: 'Wenn du sie brauchst, wende dich an einen Administrator.',
    button: 'Zu deinen Containern',
  },
  broken: {
    title: 'Fehler auf dieser Seite',
    what: 'Ein Programmfehler hat diese Seite unterbrochen. Deine Container und Dateien betrifft das nicht.',
    todo: 'Lade sie neu. Wenn es wieder passiert, sag deinem Administrator, was du vorher getan hast.',
    button: 'Seite neu laden',
  },
  outdated: {
    title: 'Ein Teil dieser Seite konnte nicht geladen werden',
    what: 'Berth wurde aktualisiert oder ist gerade nicht erreichbar. Deine Container und Dateien betrifft das nicht.',
    todo: 'Lade die Seite neu, um die aktuelle Version zu bekommen.',
    button: 'Seite neu laden',
  },
}
