import type { Texts } from '#/i18n/texts.ts'

/** Text of a launch: its stages, on a card of the dashboard and on its own page. */

const stages = {
  title: ['Steps of the launch', 'Schritte des Starts'],
  queued: ['In the queue', 'In der Warteschlange'],
  pulling: ['Downloading the image', 'Image wird heruntergeladen'],
  creating: ['Creating the container', 'Container wird erstellt'],
  starting: ['Starting the container', 'Container wird gestartet'],
  waiting: ['Waiting for the app', 'Warten auf die Anwendung'],
} as const satisfies Texts

const stage = {
  queued: [
    '{detail, select, gpu {All GPUs are in use: position {place} of {waiting}} other {In the queue: position {place} of {waiting}}}',
    '{detail, select, gpu {Alle GPUs sind belegt: Position {place} von {waiting}} other {In der Warteschlange: Position {place} von {waiting}}}',
  ],
  pulling: [
    'Downloading the image{detail, select, none {} layers {: {done} of {total, plural, one {# layer} other {# layers}}} other {: {done} of {total, plural, one {# layer} other {# layers}}, {part} of {whole} {unit}}}',
    'Image wird heruntergeladen{detail, select, none {} layers {: {done} von {total, plural, one {# Schicht} other {# Schichten}}} other {: {done} von {total, plural, one {# Schicht} other {# Schichten}}, {part} von {whole} {unit}}}',
  ],
  creating: ['Creating the container', 'Container wird erstellt'],
  starting: [
    '{detail, select, node {Waiting for a server with room} volume {Waiting for the storage of your files} other {Starting the container}}',
    '{detail, select, node {Warten auf einen Server mit Platz} volume {Warten auf den Speicher deiner Dateien} other {Container wird gestartet}}',
  ],
  waiting: ['Waiting for the app', 'Warten auf die Anwendung'],
} as const satisfies Texts

/** Text of the dashboard, of launches, and of logs. */
export const dashboard = {
  title: ['Your containers', 'Deine Container'],
  loading: ['Loading your containers…', 'Deine Container werden geladen…'],
  failed: ['Your containers could not be loaded.', 'Deine Container konnten nicht geladen werden.'],
  asOf: ['Last updated at {time}.', 'Du siehst den Stand von {time}.'],
  running: [
    '{count, plural, =0 {None is running} other {# running}}',
    '{count, plural, =0 {Keiner läuft} one {# läuft} other {# laufen}}',
  ],
  empty: ['There is nothing to launch for you here yet.', 'Hier gibt es für dich noch nichts zu starten.'],
  emptyNext: ['See the templates', 'Vorlagen ansehen'],
  firstVisit: [
    'Each card is a container of your own: launch it, work in your browser, and the files in its home folder are kept.',
    'Jede Karte ist ein eigener Container: Starte ihn, arbeite im Browser, und die Dateien in seinem Home-Ordner bleiben erhalten.',
  ],
  youAdminister: [
    'You are an administrator of this Berth. Under <admin>Administration</admin> you invite people and see all containers.',
    'Du bist Administrator dieses Berth. Unter <admin>Verwaltung</admin> lädst du Leute ein und siehst alle Container.',
  ],
  sharing: {
    label: ['Shared containers', 'Geteilte Container'],
    of: ['{name} of {owner}', '{name} von {owner}'],
    all: ['Share a container', 'Container teilen'],
  },
  snapshots: ['Snapshots of your files', 'Sicherungspunkte deiner Dateien'],
  visitors: [
    '{count, plural, one {One visitor has it open now.} other {# visitors have it open now.}}',
    '{count, plural, one {Ein Gast hat ihn gerade offen.} other {# Gäste haben ihn gerade offen.}}',
  ],
  groups: { label: ['Your groups', 'Deine Gruppen'], all: ['Groups and join codes', 'Gruppen und Beitrittscodes'] },
  ask: ['Ask <who></who>.', 'Wende dich an <who></who>.'],
  askYourself: ['You are an administrator: see the system.', 'Du bist Administrator: Sieh beim System nach.'],
  administrator: ['your administrator', 'deinen Administrator'],
  status: {
    notLaunched: ['Not launched yet', 'Noch nie gestartet'],
    running: ['Running', 'Läuft'],
    stopped: ['Stopped', 'Gestoppt'],
    paused: ['Paused', 'Pausiert'],
    restarting: ['Restarting', 'Startet neu'],
    removing: ['Being removed', 'Wird entfernt'],
    broken: ['Broken', 'Defekt'],
    missing: ['Missing', 'Nicht mehr da'],
    unknown: ['Status unknown', 'Status unbekannt'],
    blocked: ['Blocked', 'Gesperrt'],
    ended: ['Program ended', 'Programm beendet'],
    launching: ['Launching…', 'Wird gestartet…'],
    restartingNow: ['Restarting…', 'Wird neu gestartet…'],
    stopping: ['Stopping…', 'Wird gestoppt…'],
    starting: ['Starting…', 'Startet…'],
  },
  hint: {
    replaced: [
      'Launch replaces it with a new container. The files in your home folder are kept.',
      'Beim Starten wird er durch einen neuen Container ersetzt. Die Dateien in deinem Home-Ordner bleiben erhalten.',
    ],
    renewed: [
      'Launch creates a new container. The files in your home folder are kept.',
      'Beim Starten wird ein neuer Container erstellt. Die Dateien in deinem Home-Ordner bleiben erhalten.',
    ],
    engine: ['The container engine does not answer at the moment.', 'Die Container-Engine antwortet gerade nicht.'],
    paused: [
      'It was not in use. Open it to continue where you left off.',
      'Er wurde nicht benutzt. Öffne ihn, um dort weiterzuarbeiten, wo du aufgehört hast.',
    ],
    crashed: [
      'Its program ended unexpectedly. The logs may show why.',
      'Sein Programm wurde unerwartet beendet. Das Log zeigt vielleicht den Grund.',
    ],
    outOfMemory: [
      'It used more memory than it is allowed, so it was ended.',
      'Er brauchte mehr Arbeitsspeicher als erlaubt und wurde deshalb beendet.',
    ],
    evicted: [
      'The cluster ended it: the machine that it ran on was shut down, emptied or short of memory or disk. Launch starts it elsewhere. The files in your home folder are kept.',
      'Der Cluster hat ihn beendet: Die Maschine, auf der er lief, wurde abgeschaltet oder geräumt, oder ihr fehlte Arbeits- oder Plattenspeicher. Beim Starten läuft er anderswo. Die Dateien in deinem Home-Ordner bleiben erhalten.',
    ],
    nodeLost: [
      'The machine that it ran on does not answer. The files in your home folder are kept.',
      'Die Maschine, auf der er lief, antwortet nicht. Die Dateien in deinem Home-Ordner bleiben erhalten.',
    ],
    firstLaunch: ['The first time this can take a minute.', 'Beim ersten Mal kann das eine Minute dauern.'],
  },
  openLink: {
    unknown: [
      'The link leads to a container that does not exist here, or is not for you. Ask the person who gave you the link.',
      'Der Link führt zu einem Container, den es hier nicht gibt oder der nicht für dich ist. Frag, wer dir den Link gegeben hat.',
    ],
    host: [
      'The link brings files from a host that is not allowed here. Ask your administrator to allow it.',
      'Der Link bringt Dateien von einem Server, der hier nicht erlaubt ist. Bitte deine Administration, ihn zu erlauben.',
    ],
    link: [
      'The link names no Git repository, branch or folder that can be used. Ask the person who gave you the link.',
      'Der Link nennt kein Git-Repository, keinen Zweig oder keinen Ordner, der zu verwenden ist. Frag, wer dir den Link gegeben hat.',
    ],
  },
  lastUsed: ['Last used <time></time>', 'Zuletzt benutzt: <time></time>'],
  runningSince: ['Running since <time></time>', 'Läuft seit <time></time>'],
  stopped: {
    unknown: ['Stopped <time></time>', 'Gestoppt: <time></time>'],
    idle: ['Stopped <time></time> as it was unused.', 'Gestoppt, weil unbenutzt: <time></time>'],
    owner: ['Stopped <time></time> by you.', 'Von dir gestoppt: <time></time>'],
    manager: [
      'Stopped <time></time> by a manager of your group.',
      'Von der Leitung deiner Gruppe gestoppt: <time></time>',
    ],
    administrator: ['Stopped <time></time> by an administrator.', 'Von der Administration gestoppt: <time></time>'],
    hours: [
      'Stopped <time></time>, as the hours of your group say.',
      'Nach den Zeiten deiner Gruppe gestoppt: <time></time>',
    ],
    lifetime: ['Stopped <time></time> because its time was up.', 'Gestoppt, weil seine Zeit um war: <time></time>'],
    layer: ['Stopped <time></time>', 'Gestoppt: <time></time>'],
    'group-end': [
      'Stopped <time></time> because your group has ended.',
      'Gestoppt, weil deine Gruppe endete: <time></time>',
    ],
    block: ['Stopped <time></time>, when it was blocked.', 'Gestoppt, als er gesperrt wurde: <time></time>'],
    version: ['Stopped <time></time> for a new version.', 'Für eine neue Version gestoppt: <time></time>'],
  },
  idleHint: {
    at: ['Runs until <time></time> if it is not used.', 'Läuft bis <time></time>, falls er nicht benutzt wird.'],
    over: ['Will be suspended soon if it is not used.', 'Wird bald angehalten, falls er nicht benutzt wird.'],
    traffic: [
      'What an open page or a program sends counts as use.',
      'Was eine offene Seite oder ein Programm sendet, zählt als Benutzung.',
    ],
    page: ['You opened a page.', 'Du hast eine Seite geöffnet.'],
    app: ['Work is running in it, or was until lately.', 'Darin läuft etwas, oder bis vor Kurzem.'],
    cpu: ['It is computing.', 'Er rechnet.'],
    kept: ['You kept it running.', 'Du hast ihn weiterlaufen lassen.'],
    started: ['It was started.', 'Er wurde gestartet.'],
  },
  restartRequested: [
    'Your administrator asks you to restart this container: a new version is ready. Save your work first; files in your home stay.',
    'Dein Administrator bittet dich, diesen Container neu zu starten: Eine neue Version ist bereit. Speichere vorher deine Arbeit; Dateien in deinem Home bleiben.',
  ],
  outdated: [
    'The folders of your groups have changed. Restart this container to see them as they are now; save your work first.',
    'Die Ordner deiner Gruppen haben sich geändert. Starte diesen Container neu, um sie zu sehen, wie sie jetzt sind; speichere vorher deine Arbeit.',
  ],
  accountBlocked: [
    'An administrator has blocked your account: your containers are stopped and cannot be launched. Your files are kept.',
    'Ein Administrator hat dein Konto gesperrt: Deine Container sind gestoppt und lassen sich nicht starten. Deine Dateien bleiben erhalten.',
  ],
  accountBlockedSince: [
    'An administrator has blocked your account, since <time></time>: your containers are stopped and cannot be launched. Your files are kept.',
    'Ein Administrator hat dein Konto gesperrt, seit <time></time>: Deine Container sind gestoppt und lassen sich nicht starten. Deine Dateien bleiben erhalten.',
  ],
  blockedSince: ['Blocked since <time></time>.', 'Gesperrt seit <time></time>.'],
  blocked: ['This container is blocked.', 'Dieser Container ist gesperrt.'],
  action: {
    launch: ['Launch', 'Starten'],
    retry: ['Try again', 'Noch einmal versuchen'],
    open: ['Open', 'Öffnen'],
    restart: ['Restart', 'Neu starten'],
    stop: ['Stop', 'Stoppen'],
    logs: ['Logs', 'Log'],
    files: ['Files', 'Dateien'],
    ports: ['Ports', 'Ports'],
    link: ['Copy a link for your class', 'Link für deine Klasse'],
    connect: ['Connect', 'Verbinden'],
    more: ['More actions for {name}', 'Weitere Aktionen für {name}'],
  },
  meter: {
    memory: ['Memory', 'Speicher'],
    disk: ['Disk', 'Platte'],
    share: ['{part} of {whole} {unit}', '{part} von {whole} {unit}'],
    used: ['{part} {unit}', '{part} {unit}'],
  },
  done: {
    launch: ['{name} is running.', '{name} läuft.'],
    restart: ['{name} was restarted.', '{name} wurde neu gestartet.'],
    stop: ['{name} was stopped.', '{name} wurde gestoppt.'],
    keep: ['{name} keeps running.', '{name} läuft weiter.'],
  },
  autoOpen: {
    text: ['Opens when ready.', 'Öffnet sich gleich.'],
    stay: ['Stay here', 'Hier bleiben'],
  },
  stages,
  stage,
  usually: ['usually about {seconds} s', 'meist etwa {seconds} s'],
  step: { done: ['done', 'erledigt'], now: ['now', 'jetzt'], next: ['not started yet', 'noch nicht begonnen'] },
  failure: {
    outOfMemory: ['It ran out of memory.', 'Der Arbeitsspeicher hat nicht gereicht.'],
    exitCode: ['Its exit code was {code}.', 'Sein Exit-Code war {code}.'],
    lines: ['Last lines of its output', 'Letzte Zeilen der Ausgabe'],
    mail: ['Write to {who}', 'An {who} schreiben'],
    web: ['Ask for help', 'Um Hilfe bitten'],
    system: ['See the system', 'System ansehen'],
    subject: ['Container {name}', 'Container {name}'],
  },
  idle: {
    stop: ['Stops in {time} because it is not in use.', 'Wird in {time} gestoppt, weil er nicht benutzt wird.'],
    pause: ['Pauses in {time} because it is not in use.', 'Wird in {time} pausiert, weil er nicht benutzt wird.'],
    stopNow: ['Stops now because it is not in use.', 'Wird jetzt gestoppt, weil er nicht benutzt wird.'],
    pauseNow: ['Pauses now because it is not in use.', 'Wird jetzt pausiert, weil er nicht benutzt wird.'],
    announcement: [
      '{name} {action, select, pause {is paused} other {is stopped}} in {seconds, plural, one {# second} other {# seconds}} because it is not in use.',
      '{name} wird in {seconds, plural, one {# Sekunde} other {# Sekunden}} {action, select, pause {pausiert} other {gestoppt}}, weil er nicht benutzt wird.',
    ],
    lifetime: [
      'Stops in {time} because its time is up. You can launch it again.',
      'Wird in {time} gestoppt, weil seine Zeit um ist. Du kannst ihn wieder starten.',
    ],
    lifetimeNow: [
      'Stops now because its time is up. You can launch it again.',
      'Wird jetzt gestoppt, weil seine Zeit um ist. Du kannst ihn wieder starten.',
    ],
    lifetimeAnnouncement: [
      '{name} is stopped in {seconds, plural, one {# second} other {# seconds}} because its time is up.',
      '{name} wird in {seconds, plural, one {# Sekunde} other {# Sekunden}} gestoppt, weil seine Zeit um ist.',
    ],
    keep: ['Keep it running', 'Weiterlaufen lassen'],
  },
  disk: {
    one: [
      'The home folder of this container uses {part} of {whole} {unit}. When it is full, this container does not start again. Running programs are not affected. Delete files that you no longer need, in the container or, while it is stopped, under Files.',
      'Der Home-Ordner dieses Containers belegt {part} von {whole} {unit}. Ist er voll, startet dieser Container nicht mehr. Was läuft, läuft weiter. Lösche Dateien, die du nicht mehr brauchst, im Container oder, wenn er gestoppt ist, unter Dateien.',
    ],
    all: [
      'Your home folders together use {part} of {whole} {unit}. When they are full, none of your containers starts again. Running programs are not affected. Delete files that you no longer need, in a container or, while it is stopped, under Files on its card.',
      'Deine Home-Ordner belegen zusammen {part} von {whole} {unit}. Sind sie voll, startet keiner deiner Container mehr. Was läuft, läuft weiter. Lösche Dateien, die du nicht mehr brauchst, in einem Container oder, wenn er gestoppt ist, unter Dateien auf seiner Karte.',
    ],
    layer: [
      'This container has written {part} of {whole} {unit} outside of your home folder. At the limit it is stopped, and its next launch makes it anew, without these files. Move what you need into your home folder, and delete the rest.',
      'Dieser Container hat außerhalb deines Home-Ordners {part} von {whole} {unit} geschrieben. Am Limit wird er gestoppt und beim nächsten Start neu erstellt, ohne diese Dateien. Verschiebe, was du brauchst, in deinen Home-Ordner, und lösche den Rest.',
    ],
    unmeasured: [
      'The home folder of this container cannot be measured, so your other containers may not start. Folders in it may be nested too deeply: delete or move them.',
      'Der Home-Ordner dieses Containers lässt sich nicht messen, deshalb starten deine anderen Container womöglich nicht. Vielleicht sind Ordner darin zu tief verschachtelt: Lösche oder verschiebe sie.',
    ],
  },
  confirm: {
    restart: {
      title: ['Restart {name}?', '{name} neu starten?'],
      keeps: ['The files in your home folder are kept.', 'Die Dateien in deinem Home-Ordner bleiben erhalten.'],
      loses: [
        'Everything else in the container is replaced with a fresh copy, and running programs are ended.',
        'Alles andere im Container wird durch eine frische Kopie ersetzt, und laufende Programme werden beendet.',
      ],
    },
    stop: {
      title: ['Stop {name}?', '{name} stoppen?'],
      keeps: ['Your files are kept.', 'Deine Dateien bleiben erhalten.'],
      loses: [
        'Running programs are ended, and what they have not saved is lost.',
        'Laufende Programme werden beendet; was sie nicht gespeichert haben, geht verloren.',
      ],
    },
  },
  newestLine: ['Jump to the end', 'Zum Ende springen'],
  keys: {
    hint: ['Keyboard shortcuts', 'Tastenkürzel'],
    chooseFirst: [
      'Choose a container first: press {last, plural, one {1} other {1 to #}}.',
      'Wähle zuerst einen Container: Drücke {last, plural, one {1} other {1 bis #}}.',
    ],
  },
} as const satisfies Texts
