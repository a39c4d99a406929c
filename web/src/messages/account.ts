import type { Texts } from '#/i18n/texts.ts'

/** Words of the page where people see what is kept about them. */
export const data = {
  title: ['Your data', 'Deine Daten'],
  lead: [
    'Everything that is kept about you here. The files in your containers are yours alone and not part of it.',
    'Alles, was hier über dich gespeichert ist. Die Dateien in deinen Containern gehören dir allein und sind nicht dabei.',
  ],
  deletion: [
    'An administrator deletes your account, with your files if you want that.',
    'Dein Konto löscht ein Administrator, auf Wunsch mit deinen Dateien.',
  ],
  loading: ['Collecting what is kept…', 'Das Gespeicherte wird zusammengestellt…'],
  download: ['Download as a file (JSON)', 'Als Datei herunterladen (JSON)'],
  downloaded: ['Saved as {file}.', 'Gespeichert als {file}.'],
  homes: {
    title: ['Homes', 'Home-Ordner'],
    lead: [
      'A home that several types share, and former homes: no type has these any more, because types share one or are not configured any more. Files in a former home stay until you remove it.',
      'Ein Home, das sich mehrere Typen teilen, und frühere Homes: Diese hat kein Typ mehr, weil Typen sich eines teilen oder nicht mehr eingerichtet sind. Dateien in einem früheren Home bleiben, bis du es entfernst.',
    ],
    of: ['Home of {names}', 'Home von {names}'],
    former: ['Former home of {names}', 'Früheres Home von {names}'],
    shared: ['several types', 'mehreren Typen'],
    size: ['({size})', '({size})'],
    download: ['Download', 'Herunterladen'],
    remove: ['Remove', 'Entfernen'],
    ask: ['Remove this home?', 'Dieses Home entfernen?'],
    effect: [
      'All files in it are removed, permanently. Download it first if you need any of them.',
      'Alle Dateien darin werden entfernt, endgültig. Lade es vorher herunter, wenn du etwas davon brauchst.',
    ],
  },
  none: ['Nothing.', 'Nichts.'],
  more: [
    '{count, plural, one {One more is} other {# more are}} in the file.',
    '{count, plural, one {Ein weiterer Eintrag steht} other {# weitere Einträge stehen}} in der Datei.',
  ],
  days: ['{count, plural, one {# day} other {# days}}', '{count, plural, one {# Tag} other {# Tage}}'],
  yes: ['yes', 'ja'],
  no: ['no', 'nein'],
  section: {
    account: {
      title: ['Account', 'Konto'],
      why: [
        'To sign you in and to name your containers. Kept until the account is deleted.',
        'Damit du dich anmelden kannst und deine Container einen Namen haben. Bis das Konto gelöscht wird.',
      ],
    },
    containers: {
      title: ['Containers', 'Container'],
      why: [
        'To start them as you left them. Kept until the account is deleted; files {homes} longer, in case it was a mistake.',
        'Damit sie starten, wie du sie verlassen hast. Bis das Konto gelöscht wird; Dateien {homes} länger, falls das ein Versehen war.',
      ],
    },
    sessions: {
      title: ['Sessions', 'Sitzungen'],
      why: [
        'So that you see and end your sign-ins. Kept until they end, {sessions} at most; where an administrator acted for you, {takeovers}.',
        'Damit du deine Anmeldungen siehst und beenden kannst. Bis sie enden, höchstens {sessions}; wenn ein Administrator für dich gehandelt hat, {takeovers}.',
      ],
    },
    links: {
      title: ['Mailed links', 'Links in E-Mails'],
      why: [
        'To check a link when it is opened. Kept until it expires. The link itself is in your mail only.',
        'Um einen Link beim Öffnen zu prüfen. Bis er abläuft. Der Link selbst steht nur in deiner E-Mail.',
      ],
    },
    link_requests: {
      title: ['Requests for links', 'Anforderungen von Links'],
      why: [
        'To keep others from flooding your mailbox. Kept for two hours.',
        'Damit niemand dein Postfach überflutet. Zwei Stunden lang.',
      ],
    },
    api_tokens: {
      title: ['API tokens', 'API-Tokens'],
      why: [
        'So that your programs can sign in. Kept until they end or you remove them. Only a fingerprint of a token is stored.',
        'Damit deine Programme sich anmelden können. Bis sie enden oder du sie entfernst. Von einem Token ist nur ein Fingerabdruck gespeichert.',
      ],
    },
    ssh_keys: {
      title: ['SSH keys', 'SSH-Schlüssel'],
      why: [
        'So that you reach your containers over SSH. Kept until you remove them. They are the public parts of your keys.',
        'Damit du deine Container über SSH erreichst. Bis du sie entfernst. Es sind die öffentlichen Teile deiner Schlüssel.',
      ],
    },
    identities: {
      title: ['Accounts at sign-in providers', 'Konten bei Anmeldeanbietern'],
      why: [
        'To recognize you when you sign in there. Kept until the account is deleted.',
        'Um dich wiederzuerkennen, wenn du dich dort anmeldest. Bis das Konto gelöscht wird.',
      ],
    },
    groups: {
      title: ['Groups', 'Gruppen'],
      why: [
        'To give you the containers of your courses. Kept while you are a member.',
        'Damit du die Container deiner Kurse bekommst. Solange du Mitglied bist.',
      ],
    },
    invitations: {
      title: ['Open invitations to groups', 'Offene Einladungen in Gruppen'],
      why: [
        'To make you a member when you sign in. Kept until then.',
        'Damit du Mitglied wirst, wenn du dich anmeldest. Bis dahin.',
      ],
    },
    shares: {
      title: ['Shared containers', 'Geteilte Container'],
      why: [
        'So that those with whom you share get in, and you where others share. Kept until the share ends.',
        'Damit die hineinkommen, mit denen du teilst, und du, wo andere teilen. Bis die Freigabe endet.',
      ],
    },
    term_ends: {
      title: ['Ends of courses', 'Kursenden'],
      why: [
        'To archive your files, mail you the link, and remove what is over. Kept until the date of the archives.',
        'Um deine Dateien zu archivieren, dir den Link zu schicken und zu entfernen, was vorbei ist. Bleibt bis zum Datum der Archive.',
      ],
    },
    archives: {
      title: ['Archives of your files', 'Archive deiner Dateien'],
      why: [
        'So that you can download your files after a course. Kept until the date in the mail.',
        'Damit du deine Dateien nach einem Kurs herunterladen kannst. Bleiben bis zum Datum in der E-Mail.',
      ],
    },
    usage: {
      title: ['Sums of use', 'Summen der Nutzung'],
      why: [
        'To plan the server and to share its cost. Sums by day and month alone, nothing of what you did.',
        'Um den Server zu planen und seine Kosten zu teilen. Nur Summen nach Tag und Monat, nichts von dem, was du getan hast.',
      ],
    },
    audit_entries: {
      title: ['Audit log', 'Protokoll'],
      why: [
        'So that it can be proved who did what. The log cannot be changed; network addresses in it, and your address after a deletion of the account, are deleted after {addresses}.',
        'Damit sich nachweisen lässt, wer was getan hat. Das Protokoll ist unveränderlich; Netzwerkadressen darin, und deine Adresse nach einer Löschung des Kontos, bleiben {addresses} lang.',
      ],
    },
  },
  field: {
    id: ['Number', 'Nummer'],
    email: ['E-mail address', 'E-Mail-Adresse'],
    slug: ['Name in addresses', 'Name in Adressen'],
    state: ['State', 'Zustand'],
    is_admin: ['Administrator', 'Administrator'],
    is_blocked: ['Blocked', 'Gesperrt'],
    extra_disk_bytes: ['Bytes beyond the disk limits', 'Bytes über die Speichergrenzen hinaus'],
    last_used: ['Last used', 'Zuletzt benutzt'],
    created_at: ['Since', 'Seit'],
    type: ['Type', 'Typ'],
    container_id: ['Id in the engine', 'Kennung in der Engine'],
    image: ['Image', 'Image'],
    parameters: ['Chosen options', 'Gewählte Optionen'],
    stopped_at: ['Stopped', 'Gestoppt'],
    is_stop_requested: ['Stopped on request', 'Auf Wunsch gestoppt'],
    running_since: ['Running since', 'Läuft seit'],
    retired_at: ['Removed for lack of use', 'Entfernt, weil unbenutzt'],
    full_layer: ['Stopped for bytes outside of its home', 'Gestoppt wegen Bytes außerhalb des Homes'],
    blocked_at: ['Blocked since', 'Gesperrt seit'],
    expires_at: ['Ends', 'Endet'],
    began: ['Signed in by', 'Angemeldet durch'],
    address: ['Network address', 'Netzwerkadresse'],
    browser: ['Browser and system', 'Browser und System'],
    ended_at: ['Ended', 'Beendet'],
    ended_why: ['Reason for the end', 'Grund des Endes'],
    taken_over_by: ['Administrator who acted for you', 'Administrator, der für dich gehandelt hat'],
    reason: ['Reason', 'Grund'],
    purpose: ['Purpose', 'Zweck'],
    used_at: ['Used', 'Benutzt'],
    mailed_at: ['Mailed', 'Verschickt'],
    requested_at: ['Requested', 'Angefordert'],
    name: ['Name', 'Bezeichnung'],
    title: ['Title', 'Titel'],
    fingerprint: ['Fingerprint', 'Fingerabdruck'],
    scopes: ['Scopes', 'Rechte'],
    issuer: ['Provider', 'Anbieter'],
    subject: ['Name there', 'Name dort'],
    group: ['Group', 'Gruppe'],
    role: ['Role', 'Rolle'],
    source: ['Source', 'Quelle'],
    at: ['Time', 'Zeit'],
    action: ['Action', 'Aktion'],
    target: ['Concerns', 'Betrifft'],
    is_own: ['By you', 'Von dir'],
    with: ['Shared with', 'Geteilt mit'],
    asked_in: ['Asked in the group', 'Gefragt in der Gruppe'],
    unit: ['Sum by', 'Summe nach'],
    period: ['Period', 'Zeitraum'],
    running_s: ['Running (s)', 'Gelaufen (s)'],
    paused_s: ['Paused (s)', 'Pausiert (s)'],
    used_s: ['In use (s)', 'Benutzt (s)'],
    core_s: ['Cores (s)', 'Kerne (s)'],
    memory_mib_s: ['Memory (MiB s)', 'Speicher (MiB s)'],
    idle_5_s: ['Idle over 5 min (s)', 'Über 5 min unbenutzt (s)'],
    idle_15_s: ['Idle over 15 min (s)', 'Über 15 min unbenutzt (s)'],
    idle_30_s: ['Idle over 30 min (s)', 'Über 30 min unbenutzt (s)'],
    idle_60_s: ['Idle over 60 min (s)', 'Über 60 min unbenutzt (s)'],
    idle_120_s: ['Idle over 120 min (s)', 'Über 120 min unbenutzt (s)'],
    idle_240_s: ['Idle over 240 min (s)', 'Über 240 min unbenutzt (s)'],
    measured_s: ['Measured (s)', 'Gemessen (s)'],
    cpu_used_ms: ['CPU time (ms)', 'CPU-Zeit (ms)'],
    memory_used_mib_s: ['Memory in use (MiB s)', 'Benutzter Speicher (MiB s)'],
    home_mib_s: ['Home folders (MiB s)', 'Home-Ordner (MiB s)'],
    gpu_s: ['GPU time (s)', 'GPU-Zeit (s)'],
    may: ['May', 'Darf'],
    port: ['Port', 'Port'],
    detail: ['Details', 'Einzelheiten'],
    problem: ['Failed step', 'Fehlgeschlagener Schritt'],
    stays: ['Why the account stays', 'Warum das Konto bleibt'],
    downloads: ['Downloads', 'Abrufe'],
    started_at: ['Begun', 'Begonnen'],
    kept_until: ['Kept until', 'Bleibt bis'],
    bytes: ['Size in bytes', 'Größe in Byte'],
  },
  /** Words of the API that a field may hold. */
  value: {
    state: {
      registered: ['address not confirmed', 'Adresse nicht bestätigt'],
      verified: ['confirmed', 'bestätigt'],
      active: ['in use', 'in Benutzung'],
    },
    began: { link: ['link in a mail', 'Link in einer E-Mail'] },
    purpose: { signup: ['to sign up', 'zum Registrieren'], login: ['to sign in', 'zum Anmelden'] },
    role: { member: ['member', 'Mitglied'], manager: ['manager', 'Leitung'] },
    source: { local: ['made here', 'hier angelegt'] },
    unit: { day: ['day', 'Tag'], month: ['month', 'Monat'] },
  },
} as const satisfies Texts

/** Words of the page where people see where they are signed in. */
export const sessions = {
  title: ['Where you are signed in', 'Wo du angemeldet bist'],
  lead: [
    'Every browser and program that may use your account. End what you do not know, or do not need any more.',
    'Jeder Browser und jedes Programm, das dein Konto benutzen darf. Beende, was du nicht kennst oder nicht mehr brauchst.',
  ],
  current: ['This browser', 'Dieser Browser'],
  /** The words of the server, e.g. `Firefox on Windows`, taken apart. */
  browserOn: ['{browser} on {system}', '{browser} unter {system}'],
  unknown: ['A program, or a browser that is not known', 'Ein Programm oder ein unbekannter Browser'],
  since: ['Since <since></since>', 'Seit <since></since>'],
  from: ['from {address}', 'von {address}'],
  used: ['used <used></used>', 'benutzt <used></used>'],
  began: ['by {provider}', 'über {provider}'],
  byLink: ['by a mailed link', 'über einen Anmeldelink'],
  until: ['ends <until></until> if it is not used', 'endet <until></until>, wenn sie nicht benutzt wird'],
  end: ['End', 'Beenden'],
  endThis: ['End the session: {name}', 'Sitzung beenden: {name}'],
  others: ['End all others', 'Alle anderen beenden'],
  othersHint: ['You stay signed in here.', 'Hier bleibst du angemeldet.'],
  alone: ['You are signed in nowhere else.', 'Du bist nirgends sonst angemeldet.'],
  ended: [
    '{count, plural, one {One session is ended.} other {# sessions are ended.}}',
    '{count, plural, one {Eine Sitzung ist beendet.} other {# Sitzungen sind beendet.}}',
  ],
  takeovers: ['Who acted for you', 'Wer für dich gehandelt hat'],
  takeoversLead: [
    'Administrators can act for you for at most a quarter of an hour, and have to say why. Older entries are deleted after a while.',
    'Administratoren können höchstens eine Viertelstunde lang für dich handeln und müssen sagen, warum. Ältere Einträge werden nach einiger Zeit gelöscht.',
  ],
  acts: ['{by} acts for you now', '{by} handelt gerade für dich'],
  acted: ['{by} acted for you', '{by} hat für dich gehandelt'],
  reason: ['Reason: {reason}', 'Grund: {reason}'],
  span: ['<from></from> to <to></to>', '<from></from> bis <to></to>'],
  untilThen: [
    'Since <since></since>, until <until></until> at the latest',
    'Seit <since></since>, spätestens bis <until></until>',
  ],
} as const satisfies Texts
