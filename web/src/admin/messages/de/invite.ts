import type { AdminWords } from '#/admin/messages/words.ts'

export const invite: AdminWords['users']['invite'] = {
  open: 'Einladen',
  title: 'Einladen',
  text: 'Alle bekommen ein Konto und einen Registrierungslink.',
  addresses: 'E-Mail-Adressen',
  addressesHint:
    'Eine je Zeile, oder die Zeilen einer Tabelle: Die Spalte mit den Adressen wird verwendet, der Rest nicht.',
  file: 'Oder aus einer Datei (CSV oder Text):',
  fileUnreadable: 'Diese Datei ist kein Text oder größer als 8 MB. Exportiere die Liste als CSV und wähle diese Datei.',
  column: '{count, number} Spalten haben Adressen. Welche zählt?',
  chooseColumn: 'Spalte wählen',
  allColumns: 'Alle Spalten',
  rejected:
    '{count, plural, one {# Zeile hat keine Adresse und wird ausgelassen:} other {# Zeilen haben keine Adresse und werden ausgelassen:}}',
  language: 'Sprache der E-Mail:',
  found: '{count, plural, =0 {Noch keine Adresse} one {# Adresse} other {# Adressen}}',
  how: 'Wie der Link ankommt',
  send: 'Per E-Mail',
  show: 'Links anzeigen, um sie selbst weiterzugeben',
  confirm: '{count, plural, =0 {Einladen} one {# Person einladen} other {# Personen einladen}}',
  busy: 'Wird eingeladen…',
  done: '{count, plural, =0 {Keine Person wurde eingeladen.} one {# Person ist eingeladen.} other {# Personen sind eingeladen.}}',
  refused:
    '{count, plural, one {# Adresse wurde nicht eingeladen: Sie steht zuerst.} other {# Adressen wurden nicht eingeladen: Sie stehen zuerst.}}',
  secret: 'Wer einen Link hat, kann ihn benutzen. Die Links werden nur hier und nur einmal angezeigt.',
  results: 'Ergebnis je Adresse',
  address: 'Adresse',
  result: 'Ergebnis',
  copyAll: 'Alle Links kopieren',
  copiedAll: 'Alle Links sind kopiert',
  copyOf: 'Link von {email} kopieren',
  more: 'Weitere einladen',
  statuses: {
    invited: 'Eingeladen',
    'already-registered': 'Hat schon ein Konto',
    invalid: 'Keine E-Mail-Adresse',
    failed: 'Die E-Mail wurde nicht angenommen. Versuche es noch einmal.',
    waiting: 'Nicht eingeladen',
  },
}
