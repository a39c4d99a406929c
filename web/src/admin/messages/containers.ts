import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Text of the page of containers and of the actions on one. */
export const containers = {
  search: 'E-mail address or slug',
  caption: 'Containers',
  found: '{count, plural, =0 {No container matches.} one {# container matches.} other {# containers match.}}',
  noMatch: 'No container matches.',
  noMatchHint: 'Check the spelling, or clear the filters.',
  none: 'There are no containers yet.',
  noneHint: 'A container appears here after its first launch.',
  columns: {
    email: 'Owner',
    container_type: 'Type',
    status: 'Status',
    template_image: 'Image',
    last_used: 'Last used',
    created_at: 'Created',
  },
  statuses: {
    running: 'Running',
    paused: 'Paused',
    stopped: 'Stopped',
    missing: 'Missing',
    failed: 'Failed',
    unknown: 'Unknown',
  },
  blocked: 'Blocked',
  homeNotWritable: 'Home not writable',
  homeProblem:
    'Its program runs as account {program}, and its home belongs to account {owner}. Stop it, then: berth homes chown {id}',
  filters: {
    type: 'Type',
    anyType: 'Any type',
    status: 'Status',
    anyStatus: 'Any status',
  },
  name: '{type} of {email}',
  bulk: {
    selected: '{count, plural, one {# container selected} other {# containers selected}}',
    blockTitle: '{count, plural, one {Block # container?} other {Block # containers?}}',
    blockText: 'They stop, and their owners cannot launch them until they are unblocked. Files are kept.',
    blockLeftOut: 'Containers that are blocked already stay blocked.',
    unblockTitle: '{count, plural, one {Unblock # container?} other {Unblock # containers?}}',
    unblockText: 'Their owners can launch them again. Nothing starts automatically.',
    blocking: 'Blocking containers',
    unblocking: 'Unblocking containers',
    blocked:
      '{count, plural, =0 {No container was blocked.} one {# container is blocked.} other {# containers are blocked.}}',
    unblocked:
      '{count, plural, =0 {No container was unblocked.} one {# container is unblocked.} other {# containers are unblocked.}}',
    blockedBefore: '{count, plural, one {# was blocked already.} other {# were blocked already.}}',
    staysStopped: 'They stay stopped until their owners launch them.',
    unblockedBefore: '{count, plural, one {# was not blocked.} other {# were not blocked.}}',
  },
  actions: {
    details: 'Details',
    owner: 'Show the owner',
    logs: 'Logs',
    restart: 'Restart',
    stop: 'Stop',
    block: 'Block',
    unblock: 'Unblock',
    delete: 'Delete',
  },
  details: { groups: 'Groups of the owner', disk: 'Files', id: 'Id' },
  notice: {
    restarting: '{name} is restarting.',
    stopped: '{name} is stopped.',
    blocked: '{name} is blocked.',
    unblocked: '{name} is unblocked.',
    staysStopped: 'It stays stopped until its owner launches it.',
    deleted: '{name} is deleted.',
  },
  logs: {
    title: 'Logs of {name}',
    ask: 'Output may contain what its owner typed. The audit log notes that you read it, and its owner sees that under Your data.',
    show: 'Show the last lines',
    again: 'Reload',
    busy: 'Loading…',
    none: 'It has written nothing since its last start.',
    close: 'Close',
  },
  restart: {
    title: 'Restart {name}?',
    text: 'A new container replaces it. Programs in it end, and what is not saved is lost. Files in its home are kept. Its owner sees under Your data that you did it.',
    confirm: 'Restart',
    busy: 'Restarting…',
  },
  stop: {
    title: 'Stop {name}?',
    text: 'Programs in it end, and what is not saved is lost. Files are kept, and its owner can launch it again.',
    confirm: 'Stop',
    busy: 'Stopping…',
  },
  block: {
    title: 'Block {name}?',
    text: 'It stops, and its owner cannot launch it until it is unblocked. Files are kept.',
    confirm: 'Block',
    busy: 'Blocking…',
  },
  delete: {
    title: 'Delete {name}?',
    text: 'The container is removed at once, with everything that runs in it. The next launch creates a new one.',
    files: 'The files in its home folder are kept, and are available again after the next launch.',
    purge: 'Delete the files in its home folder, too. This cannot be undone.',
    confirm: 'Delete',
    busy: 'Deleting…',
  },
} as const

/** Text of the page with the templates. */
export const templates = {
  about:
    'What users can launch, as the file of templates says. After a change of a template or its image, a container gets the new version at its next start from stopped; what runs keeps the old one.',
  list: 'Templates',
  version: 'Version {version}',
  noImage: 'The engine does not have this image yet',
  pulled: 'Pulled or built <at></at>',
  upToDate: 'No container of an older version runs.',
  older: '{count, plural, one {# container of an older version runs.} other {# containers of an older version run.}}',
  asked: '{count, plural, one {# owner is asked to restart.} other {# owners are asked to restart.}}',
  owners: 'Owners who run an older version of {type}',
  all: 'All containers of {type}',
  more: 'and {count} more',
  mode: {
    busy: 'Updating…',
    when_stopped: {
      open: 'Update when stopped',
      openThis: 'Update containers of {type} when they are stopped',
      title: 'Update {type} when stopped?',
      effect:
        'Owners are not asked to restart any more. Each container gets the new version at its next start from stopped.',
    },
    ask: {
      open: 'Ask',
      openThis: 'Ask owners of {type} to restart',
      title: 'Ask {count, plural, one {# owner} other {# owners}} of {type} to restart?',
      effect: 'Their dashboard says that a new version is ready, and that a restart brings it. Nothing is stopped.',
    },
    now: {
      open: 'Update now',
      openThis: 'Update containers of {type} now',
      title: 'Replace {count, plural, one {# container} other {# containers}} of {type} now?',
      effect:
        'Programs in them end at once, and what is not saved is lost. Files in homes stay. Containers that run are made anew; paused ones are stopped.',
    },
  },
} as const

export const germanContainers: InOtherWords<typeof containers> = {
  search: 'E-Mail-Adresse oder Kürzel',
  caption: 'Container',
  found: '{count, plural, =0 {Kein Container passt.} one {# Container passt.} other {# Container passen.}}',
  noMatch: 'Kein Container passt dazu.',
  noMatchHint: 'Prüfe die Schreibweise oder hebe die Filter auf.',
  none: 'Es gibt noch keine Container.',
  noneHint: 'Ein Container erscheint hier nach seinem ersten Start.',
  columns: {
    email: 'Gehört',
    container_type: 'Typ',
    status: 'Status',
    template_image: 'Image',
    last_used: 'Zuletzt benutzt',
    created_at: 'Angelegt',
  },
  statuses: {
    running: 'Läuft',
    paused: 'Pausiert',
    stopped: 'Gestoppt',
    missing: 'Fehlt',
    failed: 'Fehlgeschlagen',
    unknown: 'Unbekannt',
  },
  blocked: 'Gesperrt',
  homeNotWritable: 'Home nicht beschreibbar',
  homeProblem:
    'Das Programm läuft als Konto {program}, und das Home gehört dem Konto {owner}. Stopp ihn, dann: berth homes chown {id}',
  filters: {
    type: 'Typ',
    anyType: 'Jeder Typ',
    status: 'Status',
    anyStatus: 'Jeder Status',
  },
  name: '{type} von {email}',
  bulk: {
    selected: '{count, plural, one {# Container ausgewählt} other {# Container ausgewählt}}',
    blockTitle: '{count, plural, one {# Container sperren?} other {# Container sperren?}}',
    blockText: 'Sie werden gestoppt und lassen sich nicht starten, bis sie entsperrt sind. Die Dateien bleiben.',
    blockLeftOut: 'Schon gesperrte Container bleiben gesperrt.',
    unblockTitle: '{count, plural, one {# Container entsperren?} other {# Container entsperren?}}',
    unblockText: 'Sie lassen sich wieder starten. Nichts startet automatisch.',
    blocking: 'Container werden gesperrt',
    unblocking: 'Container werden entsperrt',
    blocked:
      '{count, plural, =0 {Kein Container wurde gesperrt.} one {# Container ist gesperrt.} other {# Container sind gesperrt.}}',
    unblocked:
      '{count, plural, =0 {Kein Container wurde entsperrt.} one {# Container ist entsperrt.} other {# Container sind entsperrt.}}',
    blockedBefore: '{count, plural, one {# war schon gesperrt.} other {# waren schon gesperrt.}}',
    staysStopped: 'Sie bleiben gestoppt, bis ihre Besitzer sie starten.',
    unblockedBefore: '{count, plural, one {# war nicht gesperrt.} other {# waren nicht gesperrt.}}',
  },
  actions: {
    details: 'Einzelheiten',
    owner: 'Person zeigen',
    logs: 'Log',
    restart: 'Neu starten',
    stop: 'Stoppen',
    block: 'Sperren',
    unblock: 'Entsperren',
    delete: 'Löschen',
  },
  details: { groups: 'Gruppen der Person', disk: 'Dateien', id: 'Nummer' },
  notice: {
    restarting: '{name} startet neu.',
    stopped: '{name} ist gestoppt.',
    blocked: '{name} ist gesperrt.',
    unblocked: '{name} ist entsperrt.',
    staysStopped: 'Der Container bleibt gestoppt, bis sein Besitzer ihn startet.',
    deleted: '{name} ist gelöscht.',
  },
  logs: {
    title: 'Log von {name}',
    ask: 'Die Ausgabe kann enthalten, was getippt wurde. Das Protokoll hält fest, dass du sie gelesen hast, und die Person sieht das unter „Deine Daten“.',
    show: 'Letzte Zeilen zeigen',
    again: 'Neu laden',
    busy: 'Wird geladen…',
    none: 'Seit dem letzten Start wurde nichts ausgegeben.',
    close: 'Schließen',
  },
  restart: {
    title: '{name} neu starten?',
    text: 'Ein neuer Container ersetzt ihn. Programme darin enden, und was nicht gespeichert ist, geht verloren. Dateien im Home bleiben. Die Person sieht unter „Deine Daten“, dass du es warst.',
    confirm: 'Neu starten',
    busy: 'Wird neu gestartet…',
  },
  stop: {
    title: '{name} stoppen?',
    text: 'Programme darin enden, und was nicht gespeichert ist, geht verloren. Die Dateien bleiben, und der Container lässt sich wieder starten.',
    confirm: 'Stoppen',
    busy: 'Wird gestoppt…',
  },
  block: {
    title: '{name} sperren?',
    text: 'Der Container wird gestoppt und lässt sich nicht starten, bis er entsperrt ist. Die Dateien bleiben.',
    confirm: 'Sperren',
    busy: 'Wird gesperrt…',
  },
  delete: {
    title: '{name} löschen?',
    text: 'Der Container wird sofort entfernt, mit allem, was darin läuft. Der nächste Start legt einen neuen an.',
    files: 'Die Dateien in seinem Home-Ordner bleiben erhalten und sind nach dem nächsten Start wieder verfügbar.',
    purge: 'Auch die Dateien in seinem Home-Ordner löschen. Das lässt sich nicht rückgängig machen.',
    confirm: 'Löschen',
    busy: 'Wird gelöscht…',
  },
}

export const germanTemplates: InOtherWords<typeof templates> = {
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
        'In ihrem Dashboard steht, dass eine neue Version bereit ist und ein Neustart sie bringt. Gestoppt wird nichts.',
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
