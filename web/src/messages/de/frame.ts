import type { Words } from '#/messages/words.ts'

export const frame: Words['frame'] = {
  product: 'Berth',
  tagline: 'Eigene Container, bereit in deinem Browser',
  documentTitle: '{page} · Berth',
  skip: 'Zum Inhalt springen',
  loading: 'Einen Moment…',
  nav: {
    label: 'Seiten',
    account: 'Konto',
    containers: 'Deine Container',
    sessions: 'Wo du angemeldet bist',
    admin: 'Verwaltung',
    signOut: 'Abmelden',
    signingOut: 'Du wirst abgemeldet…',
    stillSignedIn: 'Du bist noch angemeldet.',
  },
  language: { label: 'Sprache', en: 'English', de: 'Deutsch' },
  help: 'Hilfe:',
  problem: {
    late: 'Berth hat nicht rechtzeitig geantwortet. Vielleicht arbeitet es noch daran: Warte einen Moment und versuche es dann noch einmal.',
    unreachable: 'Berth ist nicht erreichbar. Prüfe deine Verbindung und versuche es dann noch einmal.',
    bug: 'Auf dieser Seite ist etwas schiefgegangen. Lade sie neu und versuche es noch einmal.',
    tryAgain: 'Noch einmal versuchen',
  },
  away: {
    offline:
      'Dieses Gerät ist offline. Was du siehst, kann veraltet sein; sobald die Verbindung wieder da ist, geht es von selbst weiter.',
    unreachable:
      'Berth ist gerade nicht erreichbar. Deine Container betrifft das nicht; sobald Berth wieder antwortet, geht es von selbst weiter.',
    back: 'Berth ist wieder erreichbar.',
  },
  notFound: {
    title: 'Hier ist nichts',
    what: 'Unter dieser Adresse gibt es keine Seite. Vielleicht ist sie vertippt, oder der Link ist alt.',
    todo: 'Von der Startseite aus erreichst du alles, was es gibt.',
    button: 'Zur Startseite',
  },
  forbidden: {
    title: 'Das ist nur für Administratoren',
    what: 'Du bist angemeldet, aber dieses Konto hat keine Administratorrechte.',
    todo: 'Wenn du sie brauchst, bitte einen Administrator darum.',
    button: 'Zu deinen Containern',
  },
  broken: {
    title: 'Hier hat etwas nicht funktioniert',
    what: 'Auf dieser Seite ist etwas schiefgegangen. Deine Container und Dateien betrifft das nicht.',
    todo: 'Lade sie neu. Wenn es wieder passiert, sag deinem Administrator, was du vorher getan hast.',
    button: 'Seite neu laden',
  },
  outdated: {
    title: 'Ein Teil dieser Seite fehlt',
    what: 'Berth wurde aktualisiert oder ist gerade nicht erreichbar. Deine Container und Dateien betrifft das nicht.',
    todo: 'Lade die Seite neu, dann hast du die aktuelle.',
    button: 'Seite neu laden',
  },
}
