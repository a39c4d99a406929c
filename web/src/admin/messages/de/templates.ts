import type { AdminWords } from '#/admin/messages/words.ts'

export const templates: AdminWords['templates'] = {
  about:
    'Was gestartet werden kann, so wie es in der Datei der Vorlagen steht. Nach einer Änderung einer Vorlage oder ihres Images erhält ein gestoppter Container beim nächsten Start die neue Version; was läuft, behält die alte.',
  list: 'Vorlagen',
  version: 'Version {version}',
  noImage: 'Die Engine hat dieses Image noch nicht',
  pulled: 'Geholt oder gebaut: <at></at>',
  upToDate: 'Es läuft kein Container einer älteren Version.',
  older:
    '{count, plural, one {# Container einer älteren Version läuft.} other {# Container einer älteren Version laufen.}}',
  asked:
    '{count, plural, one {# Person ist um einen Neustart gebeten.} other {# Personen sind um einen Neustart gebeten.}}',
  owners: 'Personen, bei denen eine ältere Version von {type} läuft',
  all: 'Alle Container von {type}',
  more: 'und {count} weitere',
  mode: {
    busy: 'Wird aktualisiert…',
    when_stopped: {
      open: 'Nach dem Stoppen aktualisieren',
      openThis: 'Container von {type} nach dem Stoppen aktualisieren',
      title: '{type} nach dem Stoppen aktualisieren?',
      effect:
        'Um einen Neustart wird nicht mehr gebeten. Jeder Container erhält die neue Version, wenn er nach einem Stopp wieder gestartet wird.',
    },
    ask: {
      open: 'Bitten',
      openThis: 'Um einen Neustart von {type} bitten',
      title: '{count, plural, one {# Person} other {# Personen}} um einen Neustart von {type} bitten?',
      effect:
        'Auf ihrer Übersicht steht, dass eine neue Version bereit ist und ein Neustart sie bringt. Gestoppt wird nichts.',
    },
    now: {
      open: 'Jetzt aktualisieren',
      openThis: 'Container von {type} jetzt aktualisieren',
      title: '{count, plural, one {# Container} other {# Container}} von {type} jetzt ersetzen?',
      effect:
        'Programme darin enden sofort, und was nicht gespeichert ist, geht verloren. Dateien im Home bleiben. Laufende Container werden neu erstellt, pausierte gestoppt.',
    },
  },
}
