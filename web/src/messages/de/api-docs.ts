import type { apiDocs as english } from '#/messages/en/api-docs.ts'
import type { InOtherWords } from '#/messages/words.ts'

export const apiDocs: InOtherWords<typeof english> = {
  title: 'API-Referenz',
  lead: 'Alle Endpunkte dieses Berth, aus seinem <document>OpenAPI-3.1-Dokument</document>. Programme melden sich mit einem <tokens>API-Token</tokens> an.',
  search: 'Suche',
  searchHint: 'Teil eines Namens, eines Pfades oder einer Beschreibung',
  found: '{count, plural, =0 {Kein Endpunkt passt.} one {Ein Endpunkt.} other {# Endpunkte.}}',
  loading: 'Die Referenz wird geladen…',
  group: {
    auth: 'Registrierung und Anmeldung',
    user: 'Das angemeldete Konto',
    container: 'Eigene Container',
    admin: 'Verwaltung',
    other: 'Beschreibung, Schlüssel und Zustand',
  },
  access: {
    public: 'Für alle offen: kein Token nötig',
    user: 'Angemeldete Personen',
    admin: 'Administratoren',
  },
  scope: 'API-Token mit dem Recht <code>{scope}</code>',
  noScope: 'Nicht mit einem API-Token',
  stream: 'Antwortet mit Server-Sent Events',
  path: 'Im Pfad',
  query: 'In der Abfrage',
  body: 'JSON-Inhalt',
  answer: 'Antwort',
  errors: 'Fehler',
  field: 'Feld',
  type: 'Typ',
  meaning: 'Bedeutung',
  optional: 'kann fehlen',
  example: 'Beispiel: {language}',
  copy: 'Kopieren',
  copyThis: 'Das Beispiel für {language} kopieren',
  copied: 'Kopiert',
}
