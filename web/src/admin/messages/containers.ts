import type { Texts } from '#/i18n/texts.ts'

/** Text of the page of containers and of the actions on one. */
export const containers = {
  search: ['E-mail address or slug', 'E-Mail-Adresse oder Kürzel'],
  caption: ['Containers', 'Container'],
  found: [
    '{count, plural, =0 {No container matches.} one {# container matches.} other {# containers match.}}',
    '{count, plural, =0 {Kein Container passt.} one {# Container passt.} other {# Container passen.}}',
  ],
  noMatch: ['No container matches.', 'Kein Container passt dazu.'],
  noMatchHint: ['Check the spelling, or clear the filters.', 'Prüfe die Schreibweise oder hebe die Filter auf.'],
  none: ['There are no containers yet.', 'Es gibt noch keine Container.'],
  noneHint: [
    'A container appears here after its first launch.',
    'Ein Container erscheint hier nach seinem ersten Start.',
  ],
  columns: {
    email: ['Owner', 'Gehört'],
    container_type: ['Type', 'Typ'],
    status: ['Status', 'Status'],
    template_image: ['Image', 'Image'],
    last_used: ['Last used', 'Zuletzt benutzt'],
    created_at: ['Created', 'Angelegt'],
  },
  statuses: {
    running: ['Running', 'Läuft'],
    paused: ['Paused', 'Pausiert'],
    stopped: ['Stopped', 'Gestoppt'],
    missing: ['Missing', 'Fehlt'],
    failed: ['Failed', 'Fehlgeschlagen'],
    unknown: ['Unknown', 'Unbekannt'],
  },
  blocked: ['Blocked', 'Gesperrt'],
  homeNotWritable: ['Home not writable', 'Home nicht beschreibbar'],
  homeProblem: [
    'Its program runs as account {program}, and its home belongs to account {owner}. Stop it, then: berth homes chown {id}',
    'Das Programm läuft als Konto {program}, und das Home gehört dem Konto {owner}. Stopp ihn, dann: berth homes chown {id}',
  ],
  filters: {
    type: ['Type', 'Typ'],
    anyType: ['Any type', 'Jeder Typ'],
    status: ['Status', 'Status'],
    anyStatus: ['Any status', 'Jeder Status'],
  },
  name: ['{type} of {email}', '{type} von {email}'],
  bulk: {
    selected: [
      '{count, plural, one {# container selected} other {# containers selected}}',
      '{count, plural, one {# Container ausgewählt} other {# Container ausgewählt}}',
    ],
    blockTitle: [
      '{count, plural, one {Block # container?} other {Block # containers?}}',
      '{count, plural, one {# Container sperren?} other {# Container sperren?}}',
    ],
    blockText: [
      'They stop, and their owners cannot launch them until they are unblocked. Files are kept.',
      'Sie werden gestoppt und lassen sich nicht starten, bis sie entsperrt sind. Die Dateien bleiben.',
    ],
    blockLeftOut: ['Containers that are blocked already stay blocked.', 'Schon gesperrte Container bleiben gesperrt.'],
    unblockTitle: [
      '{count, plural, one {Unblock # container?} other {Unblock # containers?}}',
      '{count, plural, one {# Container entsperren?} other {# Container entsperren?}}',
    ],
    unblockText: [
      'Their owners can launch them again. Nothing starts automatically.',
      'Sie lassen sich wieder starten. Nichts startet automatisch.',
    ],
    blocking: ['Blocking containers', 'Container werden gesperrt'],
    unblocking: ['Unblocking containers', 'Container werden entsperrt'],
    blocked: [
      '{count, plural, =0 {No container was blocked.} one {# container is blocked.} other {# containers are blocked.}}',
      '{count, plural, =0 {Kein Container wurde gesperrt.} one {# Container ist gesperrt.} other {# Container sind gesperrt.}}',
    ],
    unblocked: [
      '{count, plural, =0 {No container was unblocked.} one {# container is unblocked.} other {# containers are unblocked.}}',
      '{count, plural, =0 {Kein Container wurde entsperrt.} one {# Container ist entsperrt.} other {# Container sind entsperrt.}}',
    ],
    blockedBefore: [
      '{count, plural, one {# was blocked already.} other {# were blocked already.}}',
      '{count, plural, one {# war schon gesperrt.} other {# waren schon gesperrt.}}',
    ],
    staysStopped: [
      'They stay stopped until their owners launch them.',
      'Sie bleiben gestoppt, bis ihre Besitzer sie starten.',
    ],
    unblockedBefore: [
      '{count, plural, one {# was not blocked.} other {# were not blocked.}}',
      '{count, plural, one {# war nicht gesperrt.} other {# waren nicht gesperrt.}}',
    ],
  },
  actions: {
    details: ['Details', 'Einzelheiten'],
    owner: ['Show the owner', 'Person zeigen'],
    logs: ['Logs', 'Log'],
    restart: ['Restart', 'Neu starten'],
    stop: ['Stop', 'Stoppen'],
    block: ['Block', 'Sperren'],
    unblock: ['Unblock', 'Entsperren'],
    delete: ['Delete', 'Löschen'],
  },
  details: { groups: ['Groups of the owner', 'Gruppen der Person'], disk: ['Files', 'Dateien'], id: ['Id', 'Nummer'] },
  notice: {
    restarting: ['{name} is restarting.', '{name} startet neu.'],
    stopped: ['{name} is stopped.', '{name} ist gestoppt.'],
    blocked: ['{name} is blocked.', '{name} ist gesperrt.'],
    unblocked: ['{name} is unblocked.', '{name} ist entsperrt.'],
    staysStopped: [
      'It stays stopped until its owner launches it.',
      'Der Container bleibt gestoppt, bis sein Besitzer ihn startet.',
    ],
    deleted: ['{name} is deleted.', '{name} ist gelöscht.'],
  },
  logs: {
    title: ['Logs of {name}', 'Log von {name}'],
    ask: [
      'Output may contain what its owner typed. The audit log notes that you read it, and its owner sees that under Your data.',
      'Die Ausgabe kann enthalten, was getippt wurde. Das Protokoll hält fest, dass du sie gelesen hast, und die Person sieht das unter „Deine Daten“.',
    ],
    show: ['Show the last lines', 'Letzte Zeilen zeigen'],
    again: ['Reload', 'Neu laden'],
    busy: ['Loading…', 'Wird geladen…'],
    none: ['It has written nothing since its last start.', 'Seit dem letzten Start wurde nichts ausgegeben.'],
  },
  restart: {
    title: ['Restart {name}?', '{name} neu starten?'],
    text: [
      'A new container replaces it. Programs in it end, and what is not saved is lost. Files in its home are kept. Its owner sees under Your data that you did it.',
      'Ein neuer Container ersetzt ihn. Programme darin enden, und was nicht gespeichert ist, geht verloren. Dateien im Home bleiben. Die Person sieht unter „Deine Daten“, dass du es warst.',
    ],
    confirm: ['Restart', 'Neu starten'],
    busy: ['Restarting…', 'Wird neu gestartet…'],
  },
  stop: {
    title: ['Stop {name}?', '{name} stoppen?'],
    text: [
      'Programs in it end, and what is not saved is lost. Files are kept, and its owner can launch it again.',
      'Programme darin enden, und was nicht gespeichert ist, geht verloren. Die Dateien bleiben, und der Container lässt sich wieder starten.',
    ],
    confirm: ['Stop', 'Stoppen'],
    busy: ['Stopping…', 'Wird gestoppt…'],
  },
  block: {
    title: ['Block {name}?', '{name} sperren?'],
    text: [
      'It stops, and its owner cannot launch it until it is unblocked. Files are kept.',
      'Der Container wird gestoppt und lässt sich nicht starten, bis er entsperrt ist. Die Dateien bleiben.',
    ],
    confirm: ['Block', 'Sperren'],
    busy: ['Blocking…', 'Wird gesperrt…'],
  },
  delete: {
    title: ['Delete {name}?', '{name} löschen?'],
    text: [
      'The container is removed at once, with everything that runs in it. The next launch creates a new one.',
      'Der Container wird sofort entfernt, mit allem, was darin läuft. Der nächste Start legt einen neuen an.',
    ],
    files: [
      'The files in its home folder are kept, and are available again after the next launch.',
      'Die Dateien in seinem Home-Ordner bleiben erhalten und sind nach dem nächsten Start wieder verfügbar.',
    ],
    purge: [
      'Delete the files in its home folder, too. This cannot be undone.',
      'Auch die Dateien in seinem Home-Ordner löschen. Das lässt sich nicht rückgängig machen.',
    ],
    confirm: ['Delete', 'Löschen'],
    busy: ['Deleting…', 'Wird gelöscht…'],
  },
} as const satisfies Texts

/** Text of the page with the templates. */
export const templates = {
  about: [
    'What users can launch, as the file of templates says. After a change of a template or its image, a container gets the new version at its next start from stopped; what runs keeps the old one.',
    'Was gestartet werden kann, so wie es in der Datei der Vorlagen steht. Nach einer Änderung einer Vorlage oder ihres Images erhält ein gestoppter Container beim nächsten Start die neue Version; was läuft, behält die alte.',
  ],
  list: ['Templates', 'Vorlagen'],
  version: ['Version {version}', 'Version {version}'],
  environmentMissing: [
    'Its environment {name} does not exist, or has no published version, so it cannot be launched.',
    'Ihre Umgebung {name} gibt es nicht, oder keine Version davon ist veröffentlicht: Sie lässt sich nicht starten.',
  ],
  environments: ['See the environments', 'Umgebungen ansehen'],
  noImage: ['The engine does not have this image yet', 'Die Engine hat dieses Image noch nicht'],
  pulled: ['Pulled or built <at></at>', 'Geholt oder gebaut: <at></at>'],
  upToDate: ['No container of an older version runs.', 'Es läuft kein Container einer älteren Version.'],
  older: [
    '{count, plural, one {# container of an older version runs.} other {# containers of an older version run.}}',
    '{count, plural, one {# Container einer älteren Version läuft.} other {# Container einer älteren Version laufen.}}',
  ],
  asked: [
    '{count, plural, one {# owner is asked to restart.} other {# owners are asked to restart.}}',
    '{count, plural, one {# Person ist um einen Neustart gebeten.} other {# Personen sind um einen Neustart gebeten.}}',
  ],
  mayNotLaunch: [
    '{email} (may not launch it any more; it stays as it is until it is stopped)',
    '{email} (darf ihn nicht mehr starten; er bleibt bis zum Stoppen, wie er ist)',
  ],
  owners: ['Owners who run an older version of {type}', 'Personen, bei denen eine ältere Version von {type} läuft'],
  all: ['All containers of {type}', 'Alle Container von {type}'],
  more: ['and {count} more', 'und {count} weitere'],
  mode: {
    busy: ['Updating…', 'Wird aktualisiert…'],
    when_stopped: {
      open: ['Update when stopped', 'Nach dem Stoppen aktualisieren'],
      openThis: [
        'Update containers of {type} when they are stopped',
        'Container von {type} nach dem Stoppen aktualisieren',
      ],
      title: ['Update {type} when stopped?', '{type} nach dem Stoppen aktualisieren?'],
      effect: [
        'Owners are not asked to restart any more. Each container gets the new version at its next start from stopped.',
        'Um einen Neustart wird nicht mehr gebeten. Jeder Container erhält die neue Version, wenn er nach einem Stopp wieder gestartet wird.',
      ],
    },
    ask: {
      open: ['Ask', 'Bitten'],
      openThis: ['Ask owners of {type} to restart', 'Um einen Neustart von {type} bitten'],
      title: [
        'Ask {count, plural, one {# owner} other {# owners}} of {type} to restart?',
        '{count, plural, one {# Person} other {# Personen}} um einen Neustart von {type} bitten?',
      ],
      effect: [
        'Their dashboard says that a new version is ready, and that a restart brings it. Nothing is stopped.',
        'In ihrem Dashboard steht, dass eine neue Version bereit ist und ein Neustart sie bringt. Gestoppt wird nichts.',
      ],
    },
    now: {
      open: ['Update now', 'Jetzt aktualisieren'],
      openThis: ['Update containers of {type} now', 'Container von {type} jetzt aktualisieren'],
      title: [
        'Replace {count, plural, one {# container} other {# containers}} of {type} now?',
        '{count, plural, one {# Container} other {# Container}} von {type} jetzt ersetzen?',
      ],
      effect: [
        'Programs in them end at once, and what is not saved is lost. Files in homes stay. Containers that run are made anew; paused ones are stopped.',
        'Programme darin enden sofort, und was nicht gespeichert ist, geht verloren. Dateien im Home bleiben. Laufende Container werden neu erstellt, pausierte gestoppt.',
      ],
    },
  },
} as const satisfies Texts
