import type { Words } from '#/messages/words.ts'

export const frame: Words['frame'] = {
  product: 'Berth',
  tagline: 'Eigene Container, bereit in deinem Browser',
  documentTitle: '{page} · Berth',
  nav: {
    label: 'Seiten',
    containers: 'Deine Container',
    sessions: 'Wo du angemeldet bist',
    admin: 'Verwaltung',
    signOut: 'Abmelden',
    signingOut: 'Du wirst abgemeldet…',
    stillSignedIn: 'Du bist noch angemeldet.',
  },
  language: { label: 'Sprache', en: 'English', de: 'Deutsch' },
  problem: {
    late: 'Berth hat nicht rechtzeitig geantwortet. Vielleicht arbeitet es noch daran: Warte einen Moment und versuche es dann noch einmal.',
    unreachable: 'Berth ist nicht erreichbar. Prüfe deine Verbindung und versuche es dann noch einmal.',
    bug: 'Auf dieser Seite ist etwas schiefgegangen. Lade sie neu und versuche es noch einmal.',
    tryAgain: 'Noch einmal versuchen',
  },
}
