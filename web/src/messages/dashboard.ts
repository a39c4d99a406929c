import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Text of a launch: its stages, on a card of the dashboard and on its own page. */

const stages = {
  title: 'Steps of the launch',
  queued: 'In the queue',
  pulling: 'Downloading the image',
  creating: 'Creating the container',
  starting: 'Starting the container',
  waiting: 'Waiting for the app',
} as const

const stage = {
  queued:
    '{detail, select, gpu {All GPUs are in use: position {place} of {waiting}} other {In the queue: position {place} of {waiting}}}',
  pulling:
    'Downloading the image{detail, select, none {} layers {: {done} of {total, plural, one {# layer} other {# layers}}} other {: {done} of {total, plural, one {# layer} other {# layers}}, {part} of {whole} {unit}}}',
  creating: 'Creating the container',
  starting:
    '{detail, select, node {Waiting for a server with room} volume {Waiting for the storage of your files} other {Starting the container}}',
  waiting: 'Waiting for the app',
} as const

/** Text of the dashboard, of launches, and of logs. */
export const dashboard = {
  title: 'Your containers',
  loading: 'Loading your containers…',
  failed: 'Your containers could not be loaded.',
  asOf: 'Last updated at {time}.',
  running: '{count, plural, =0 {None is running} other {# running}}',
  empty: 'There is nothing to launch for you here yet.',
  emptyNext: 'See the templates',
  firstVisit:
    'Each card is a container of your own: launch it, work in your browser, and the files in its home folder are kept.',
  youAdminister:
    'You are an administrator of this Berth. Under <admin>Administration</admin> you invite people and see all containers.',
  sharing: { label: 'Shared containers', of: '{name} of {owner}', all: 'Share a container' },
  snapshots: 'Snapshots of your files',
  visitors: '{count, plural, one {One visitor has it open now.} other {# visitors have it open now.}}',
  groups: { label: 'Your groups', all: 'Groups and join codes' },
  ask: 'Ask <who></who>.',
  askYourself: 'You are an administrator: see the system.',
  administrator: 'your administrator',
  status: {
    notLaunched: 'Not launched yet',
    running: 'Running',
    stopped: 'Stopped',
    paused: 'Paused',
    restarting: 'Restarting',
    removing: 'Being removed',
    broken: 'Broken',
    missing: 'Missing',
    unknown: 'Status unknown',
    blocked: 'Blocked',
    ended: 'Program ended',
    launching: 'Launching…',
    restartingNow: 'Restarting…',
    stopping: 'Stopping…',
    starting: 'Starting…',
  },
  hint: {
    replaced: 'Launch replaces it with a new container. The files in your home folder are kept.',
    renewed: 'Launch creates a new container. The files in your home folder are kept.',
    engine: 'The container engine does not answer at the moment.',
    paused: 'Open it to continue where you left off.',
    crashed: 'Its program ended unexpectedly. The logs may show why.',
    outOfMemory: 'It used more memory than it is allowed, so it was ended.',
    evicted:
      'The cluster ended it: the machine that it ran on was shut down, emptied or short of memory or disk. Launch starts it elsewhere. The files in your home folder are kept.',
    nodeLost: 'The machine that it ran on does not answer. The files in your home folder are kept.',
    firstLaunch: 'The first time this can take a minute.',
  },
  openLink: {
    unknown:
      'The link leads to a container that does not exist here, or is not for you. Ask the person who gave you the link.',
    host: 'The link brings files from a host that is not allowed here. Ask your administrator to allow it.',
    link: 'The link names no Git repository, branch or folder that can be used. Ask the person who gave you the link.',
  },
  since: 'Since <time></time>',
  lastLaunched: 'Last launched <time></time>',
  idleHint: {
    at: 'Runs until <time></time> if it is not used.',
    over: 'Will be suspended soon if it is not used.',
    traffic: 'What an open page or a program sends counts as use.',
    page: 'You opened a page.',
    app: 'Work is running in it, or was until lately.',
    cpu: 'It is computing.',
    kept: 'You kept it running.',
    started: 'It was started.',
  },
  restartRequested:
    'Your administrator asks you to restart this container: a new version is ready. Save your work first; files in your home stay.',
  outdated:
    'The folders of your groups have changed. Restart this container to see them as they are now; save your work first.',
  accountBlocked:
    'An administrator has blocked your account: your containers are stopped and cannot be launched. Your files are kept.',
  accountBlockedSince:
    'An administrator has blocked your account, since <time></time>: your containers are stopped and cannot be launched. Your files are kept.',
  blockedSince: 'Blocked since <time></time>.',
  blocked: 'This container is blocked.',
  action: {
    launch: 'Launch',
    retry: 'Try again',
    open: 'Open',
    restart: 'Restart',
    stop: 'Stop',
    logs: 'Logs',
    files: 'Files',
    ports: 'Ports',
    link: 'Copy a link for your class',
    connect: 'Connect',
    more: 'More actions for {name}',
  },
  meter: { memory: 'Memory', disk: 'Disk', share: '{part} of {whole} {unit}', used: '{part} {unit}' },
  done: {
    launch: '{name} is running.',
    restart: '{name} was restarted.',
    stop: '{name} was stopped.',
    keep: '{name} keeps running.',
  },
  autoOpen: { text: 'Opens in this tab when it is ready.', stay: 'Stay here' },
  stages,
  stage,
  usually: 'usually about {seconds} s',
  step: { done: 'done', now: 'now', next: 'not started yet' },
  failure: {
    outOfMemory: 'It ran out of memory.',
    exitCode: 'Its exit code was {code}.',
    lines: 'Last lines of its output',
    mail: 'Write to {who}',
    web: 'Ask for help',
    system: 'See the system',
    subject: 'Container {name}',
  },
  idle: {
    stop: 'Stops in {time} because it is not in use.',
    pause: 'Pauses in {time} because it is not in use.',
    stopNow: 'Stops now because it is not in use.',
    pauseNow: 'Pauses now because it is not in use.',
    announcement:
      '{name} {action, select, pause {is paused} other {is stopped}} in {seconds, plural, one {# second} other {# seconds}} because it is not in use.',
    lifetime: 'Stops in {time} because its time is up. You can launch it again.',
    lifetimeNow: 'Stops now because its time is up. You can launch it again.',
    lifetimeAnnouncement:
      '{name} is stopped in {seconds, plural, one {# second} other {# seconds}} because its time is up.',
    keep: 'Keep it running',
  },
  disk: {
    one: 'The home folder of this container uses {part} of {whole} {unit}. When it is full, this container does not start again. Running programs are not affected. Delete files that you no longer need, in the container or, while it is stopped, under Files.',
    all: 'Your home folders together use {part} of {whole} {unit}. When they are full, none of your containers starts again. Running programs are not affected. Delete files that you no longer need, in a container or, while it is stopped, under Files on its card.',
    layer:
      'This container has written {part} of {whole} {unit} outside of your home folder. At the limit it is stopped, and its next launch makes it anew, without these files. Move what you need into your home folder, and delete the rest.',
    unmeasured:
      'The home folder of this container cannot be measured, so your other containers may not start. Folders in it may be nested too deeply: delete or move them.',
  },
  confirm: {
    cancel: 'Cancel',
    restart: {
      title: 'Restart {name}?',
      keeps: 'The files in your home folder are kept.',
      loses: 'Everything else in the container is replaced with a fresh copy, and running programs are ended.',
    },
    stop: {
      title: 'Stop {name}?',
      keeps: 'Your files are kept.',
      loses: 'Running programs are ended, and what they have not saved is lost.',
    },
  },
  newestLine: 'Jump to the end',
  keys: {
    hint: 'Keyboard shortcuts',
    chooseFirst: 'Choose a container first: press {last, plural, one {1} other {1 to #}}.',
  },
} as const

const germanStages: InOtherWords<typeof stages> = {
  title: 'Schritte des Starts',
  queued: 'In der Warteschlange',
  pulling: 'Image wird heruntergeladen',
  creating: 'Container wird erstellt',
  starting: 'Container wird gestartet',
  waiting: 'Warten auf die Anwendung',
}

const germanStage: InOtherWords<typeof stage> = {
  queued:
    '{detail, select, gpu {Alle GPUs sind belegt: Position {place} von {waiting}} other {In der Warteschlange: Position {place} von {waiting}}}',
  pulling:
    'Image wird heruntergeladen{detail, select, none {} layers {: {done} von {total, plural, one {# Schicht} other {# Schichten}}} other {: {done} von {total, plural, one {# Schicht} other {# Schichten}}, {part} von {whole} {unit}}}',
  creating: 'Container wird erstellt',
  starting:
    '{detail, select, node {Warten auf einen Server mit Platz} volume {Warten auf den Speicher deiner Dateien} other {Container wird gestartet}}',
  waiting: 'Warten auf die Anwendung',
}

export const germanDashboard: InOtherWords<typeof dashboard> = {
  title: 'Deine Container',
  loading: 'Deine Container werden geladen…',
  failed: 'Deine Container konnten nicht geladen werden.',
  asOf: 'Du siehst den Stand von {time}.',
  running: '{count, plural, =0 {Keiner läuft} one {# läuft} other {# laufen}}',
  empty: 'Hier gibt es für dich noch nichts zu starten.',
  emptyNext: 'Vorlagen ansehen',
  firstVisit:
    'Jede Karte ist ein eigener Container: Starte ihn, arbeite im Browser, und die Dateien in seinem Home-Ordner bleiben erhalten.',
  youAdminister:
    'Du bist Administrator dieses Berth. Unter <admin>Verwaltung</admin> lädst du Leute ein und siehst alle Container.',
  sharing: { label: 'Geteilte Container', of: '{name} von {owner}', all: 'Container teilen' },
  snapshots: 'Sicherungspunkte deiner Dateien',
  visitors: '{count, plural, one {Ein Gast hat ihn gerade offen.} other {# Gäste haben ihn gerade offen.}}',
  groups: { label: 'Deine Gruppen', all: 'Gruppen und Beitrittscodes' },
  ask: 'Wende dich an <who></who>.',
  askYourself: 'Du bist Administrator: Sieh beim System nach.',
  administrator: 'deinen Administrator',
  status: {
    notLaunched: 'Noch nie gestartet',
    running: 'Läuft',
    stopped: 'Gestoppt',
    paused: 'Pausiert',
    restarting: 'Startet neu',
    removing: 'Wird entfernt',
    broken: 'Defekt',
    missing: 'Nicht mehr da',
    unknown: 'Status unbekannt',
    blocked: 'Gesperrt',
    ended: 'Programm beendet',
    launching: 'Wird gestartet…',
    restartingNow: 'Wird neu gestartet…',
    stopping: 'Wird gestoppt…',
    starting: 'Startet…',
  },
  hint: {
    replaced:
      'Beim Starten wird er durch einen neuen Container ersetzt. Die Dateien in deinem Home-Ordner bleiben erhalten.',
    renewed: 'Beim Starten wird ein neuer Container erstellt. Die Dateien in deinem Home-Ordner bleiben erhalten.',
    engine: 'Die Container-Engine antwortet gerade nicht.',
    paused: 'Öffne ihn, um dort weiterzuarbeiten, wo du aufgehört hast.',
    crashed: 'Sein Programm wurde unerwartet beendet. Das Log zeigt vielleicht den Grund.',
    outOfMemory: 'Er brauchte mehr Arbeitsspeicher als erlaubt und wurde deshalb beendet.',
    evicted:
      'Der Cluster hat ihn beendet: Die Maschine, auf der er lief, wurde abgeschaltet oder geräumt, oder ihr fehlte Arbeits- oder Plattenspeicher. Beim Starten läuft er anderswo. Die Dateien in deinem Home-Ordner bleiben erhalten.',
    nodeLost: 'Die Maschine, auf der er lief, antwortet nicht. Die Dateien in deinem Home-Ordner bleiben erhalten.',
    firstLaunch: 'Beim ersten Mal kann das eine Minute dauern.',
  },
  openLink: {
    unknown:
      'Der Link führt zu einem Container, den es hier nicht gibt oder der nicht für dich ist. Frag, wer dir den Link gegeben hat.',
    host: 'Der Link bringt Dateien von einem Server, der hier nicht erlaubt ist. Bitte deine Administration, ihn zu erlauben.',
    link: 'Der Link nennt kein Git-Repository, keinen Zweig oder keinen Ordner, der zu verwenden ist. Frag, wer dir den Link gegeben hat.',
  },
  since: 'Seit <time></time>',
  lastLaunched: 'Zuletzt gestartet: <time></time>',
  idleHint: {
    at: 'Läuft bis <time></time>, falls er nicht benutzt wird.',
    over: 'Wird bald angehalten, falls er nicht benutzt wird.',
    traffic: 'Was eine offene Seite oder ein Programm sendet, zählt als Benutzung.',
    page: 'Du hast eine Seite geöffnet.',
    app: 'Darin läuft etwas, oder bis vor Kurzem.',
    cpu: 'Er rechnet.',
    kept: 'Du hast ihn weiterlaufen lassen.',
    started: 'Er wurde gestartet.',
  },
  restartRequested:
    'Dein Administrator bittet dich, diesen Container neu zu starten: Eine neue Version ist bereit. Speichere vorher deine Arbeit; Dateien in deinem Home bleiben.',
  outdated:
    'Die Ordner deiner Gruppen haben sich geändert. Starte diesen Container neu, um sie zu sehen, wie sie jetzt sind; speichere vorher deine Arbeit.',
  accountBlocked:
    'Ein Administrator hat dein Konto gesperrt: Deine Container sind gestoppt und lassen sich nicht starten. Deine Dateien bleiben erhalten.',
  accountBlockedSince:
    'Ein Administrator hat dein Konto gesperrt, seit <time></time>: Deine Container sind gestoppt und lassen sich nicht starten. Deine Dateien bleiben erhalten.',
  blockedSince: 'Gesperrt seit <time></time>.',
  blocked: 'Dieser Container ist gesperrt.',
  action: {
    launch: 'Starten',
    retry: 'Noch einmal versuchen',
    open: 'Öffnen',
    restart: 'Neu starten',
    stop: 'Stoppen',
    logs: 'Log',
    files: 'Dateien',
    ports: 'Ports',
    link: 'Link für deine Klasse',
    connect: 'Verbinden',
    more: 'Weitere Aktionen für {name}',
  },
  meter: { memory: 'Speicher', disk: 'Platte', share: '{part} von {whole} {unit}', used: '{part} {unit}' },
  done: {
    launch: '{name} läuft.',
    restart: '{name} wurde neu gestartet.',
    stop: '{name} wurde gestoppt.',
    keep: '{name} läuft weiter.',
  },
  autoOpen: { text: 'Wird in diesem Tab geöffnet, sobald er bereit ist.', stay: 'Hier bleiben' },
  stages: germanStages,
  stage: germanStage,
  usually: 'meist etwa {seconds} s',
  step: { done: 'erledigt', now: 'jetzt', next: 'noch nicht begonnen' },
  failure: {
    outOfMemory: 'Der Arbeitsspeicher hat nicht gereicht.',
    exitCode: 'Sein Exit-Code war {code}.',
    lines: 'Letzte Zeilen der Ausgabe',
    mail: 'An {who} schreiben',
    web: 'Um Hilfe bitten',
    system: 'System ansehen',
    subject: 'Container {name}',
  },
  idle: {
    stop: 'Wird in {time} gestoppt, weil er nicht benutzt wird.',
    pause: 'Wird in {time} pausiert, weil er nicht benutzt wird.',
    stopNow: 'Wird jetzt gestoppt, weil er nicht benutzt wird.',
    pauseNow: 'Wird jetzt pausiert, weil er nicht benutzt wird.',
    announcement:
      '{name} wird in {seconds, plural, one {# Sekunde} other {# Sekunden}} {action, select, pause {pausiert} other {gestoppt}}, weil er nicht benutzt wird.',
    lifetime: 'Wird in {time} gestoppt, weil seine Zeit um ist. Du kannst ihn wieder starten.',
    lifetimeNow: 'Wird jetzt gestoppt, weil seine Zeit um ist. Du kannst ihn wieder starten.',
    lifetimeAnnouncement:
      '{name} wird in {seconds, plural, one {# Sekunde} other {# Sekunden}} gestoppt, weil seine Zeit um ist.',
    keep: 'Weiterlaufen lassen',
  },
  disk: {
    one: 'Der Home-Ordner dieses Containers belegt {part} von {whole} {unit}. Ist er voll, startet dieser Container nicht mehr. Was läuft, läuft weiter. Lösche Dateien, die du nicht mehr brauchst, im Container oder, wenn er gestoppt ist, unter Dateien.',
    all: 'Deine Home-Ordner belegen zusammen {part} von {whole} {unit}. Sind sie voll, startet keiner deiner Container mehr. Was läuft, läuft weiter. Lösche Dateien, die du nicht mehr brauchst, in einem Container oder, wenn er gestoppt ist, unter Dateien auf seiner Karte.',
    layer:
      'Dieser Container hat außerhalb deines Home-Ordners {part} von {whole} {unit} geschrieben. Am Limit wird er gestoppt und beim nächsten Start neu erstellt, ohne diese Dateien. Verschiebe, was du brauchst, in deinen Home-Ordner, und lösche den Rest.',
    unmeasured:
      'Der Home-Ordner dieses Containers lässt sich nicht messen, deshalb starten deine anderen Container womöglich nicht. Vielleicht sind Ordner darin zu tief verschachtelt: Lösche oder verschiebe sie.',
  },
  confirm: {
    cancel: 'Abbrechen',
    restart: {
      title: '{name} neu starten?',
      keeps: 'Die Dateien in deinem Home-Ordner bleiben erhalten.',
      loses: 'Alles andere im Container wird durch eine frische Kopie ersetzt, und laufende Programme werden beendet.',
    },
    stop: {
      title: '{name} stoppen?',
      keeps: 'Deine Dateien bleiben erhalten.',
      loses: 'Laufende Programme werden beendet; was sie nicht gespeichert haben, geht verloren.',
    },
  },
  newestLine: 'Zum Ende springen',
  keys: {
    hint: 'Tastenkürzel',
    chooseFirst: 'Wähle zuerst einen Container: Drücke {last, plural, one {1} other {1 bis #}}.',
  },
}
