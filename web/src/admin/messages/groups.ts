import type { Texts } from '#/i18n/texts.ts'

/** Text of the page where administrators make groups. */
export const groups = {
  about: [
    'Classes, teams and courses. A template can be limited to the members of groups. Limits apply to each member.',
    'Klassen, Teams und Kurse. Vorlagen nennen Gruppen, deren Mitglieder den Typ starten dürfen; Grenzen gelten für jedes Mitglied.',
  ],
  list: ['Groups', 'Gruppen'],
  none: [
    'No groups yet. Create one for a class, a team or a course.',
    'Noch keine Gruppen. Lege eine für eine Klasse, ein Team oder einen Kurs an.',
  ],
  noMatch: ['No group matches.', 'Keine Gruppe passt.'],
  find: ['Find a group', 'Gruppe suchen'],
  members: [
    '{count, plural, =0 {no members} one {one member} other {# members}}',
    '{count, plural, =0 {keine Mitglieder} one {ein Mitglied} other {# Mitglieder}}',
  ],
  membersOf: ['Members of {name}', 'Mitglieder von {name}'],
  open: ['Members', 'Mitglieder'],
  usageOf: ['Usage of {name}', 'Nutzung von {name}'],
  further: ['Pages', 'Seiten'],
  byProvider: ['from {source}', 'von {source}'],
  everyType: ['every type', 'alle Typen'],
  ends: ['ends <at></at>', 'endet <at></at>'],
  ended: ['ended <at></at>', 'beendet <at></at>'],
  limited: ['at most {limits} for each member', 'je Mitglied höchstens {limits}'],
  limit: {
    running: [
      '{count, plural, one {# container} other {# containers}} at once',
      '{count, plural, one {# Container} other {# Container}} zugleich',
    ],
    memory: ['{count, number} GiB of memory', '{count, number} GiB Arbeitsspeicher'],
    cpus: ['{count, plural, one {# core} other {# cores}}', '{count, plural, one {# Kern} other {# Kerne}}'],
    gpus: ['{count, plural, one {# GPU} other {# GPUs}}', '{count, plural, one {eine GPU} other {# GPUs}}'],
    disk: ['{count, number} GiB of files', '{count, number} GiB Dateien'],
  },
  edit: ['Edit', 'Bearbeiten'],
  editThis: ['Edit the group {name}', 'Die Gruppe {name} bearbeiten'],
  termEndOf: ['End of the term of {name}', 'Kursende von {name}'],
  delete: {
    open: ['Delete', 'Löschen'],
    title: ['Delete the group {name}?', 'Die Gruppe {name} löschen?'],
    effect: [
      'Its members can no longer launch types that are limited to it. Accounts, containers and files are kept. Whatever the group blocked is unblocked.',
      'Ihre Mitglieder dürfen Typen, die sie nennen, nicht mehr starten. Konten, Container und Dateien bleiben; was ihre Sperre gesperrt hat, wird frei.',
    ],
    confirm: ['Delete', 'Löschen'],
    busy: ['Deleting…', 'Wird gelöscht…'],
  },
  form: {
    new: ['New group', 'Neue Gruppe'],
    create: ['Create group', 'Gruppe anlegen'],
    editTitle: ['Edit {name}', '{name} bearbeiten'],
    save: ['Save', 'Speichern'],
    busy: ['Saving…', 'Wird gespeichert…'],
    name: ['Name', 'Name'],
    nameHint: ['Used in template files.', 'Vorlagen nennen die Gruppe so.'],
    nameByProvider: ['The provider {source} gives the name.', 'Den Namen gibt der Anbieter {source}.'],
    description: ['Description', 'Beschreibung'],
    types: ['Applies to', 'Grenzen, Ende, Stoppen und Sperren gelten für'],
    allTypes: ['Every type', 'Alle Typen'],
    limits: ['Limits for each member', 'Grenzen für jedes Mitglied'],
    limitsHint: ['Leave a field empty for no limit.', 'Ein leeres Feld heißt: keine Grenze.'],
    running: ['Containers at once', 'Container zugleich'],
    memory: ['Memory in GiB', 'Arbeitsspeicher in GiB'],
    cpus: ['Cores', 'Kerne'],
    gpus: ['GPUs', 'GPUs'],
    disk: ['Files in GiB', 'Dateien in GiB'],
    ends: ['Ends', 'Ende'],
    endsHint: [
      'Its containers then stop and can no longer be launched. Files are kept. Leave empty for no end.',
      'Dann werden Container ihrer Typen gestoppt und lassen sich nicht mehr starten; Dateien bleiben. Leer: nie.',
    ],
    nameMissing: ['Enter a name.', 'Gib einen Namen ein.'],
    badNumber: ['{name}: enter 0 or a larger number.', '{name}: eine Zahl ab 0.'],
    badWhole: ['{name}: enter 0 or a larger whole number.', '{name}: eine ganze Zahl ab 0.'],
  },
} as const satisfies Texts

/** Text of the page where administrators end the term of a group. */
export const termEnd = {
  title: ['End of term', 'Kursende'],
  of: ['End of term: {name}', 'Kursende: {name}'],
  back: ['All groups', 'Alle Gruppen'],
  noGroup: ['Open this page from the list of groups.', 'Öffne diese Seite aus der Liste der Gruppen.'],
  about: [
    'The group ends, its containers stop, homes are archived, and members get a link to their archive by mail. After that, containers, homes and the accounts of people who are only in this group are removed.',
    'Die Gruppe endet, ihre Container halten an, Home-Ordner werden archiviert, und die Mitglieder bekommen einen Link zu ihrem Archiv per E-Mail. Danach werden Container, Home-Ordner und Konten entfernt, die in nichts anderem sind.',
  ],
  form: {
    removeOn: ['Remove from', 'Entfernen ab'],
    removeHint: [
      'Nothing is removed before then, and everything can still be cancelled.',
      'Bis dahin wird nichts entfernt, und alles lässt sich abbrechen.',
    ],
    todayHint: [
      'As soon as everything is archived and mailed. Until then it can be cancelled.',
      'Sobald alles archiviert und verschickt ist. Nur bis dahin lässt es sich abbrechen.',
    ],
    past: ['The removal cannot begin before today.', 'Das Entfernen kann nicht vor heute beginnen.'],
    keepUntil: ['Keep archives until', 'Archive aufbewahren bis'],
    keepHint: [
      'After that, archives are deleted and their links no longer work.',
      'Dann werden die Archive gelöscht, und die Links führen ins Leere.',
    ],
    keepAccounts: ['Keep all accounts', 'Alle Konten behalten'],
    begin: ['End the term…', 'Kurs beenden…'],
    badDates: [
      'Archives must be kept beyond the date of the removal.',
      'Archive müssen länger als bis zum Entfernen aufbewahrt werden.',
    ],
  },
  ask: {
    title: ['End the term of {name}?', '{name} beenden?'],
    effect: [
      'Containers stop now, and homes are archived. {isAtOnce, select, true {Removed as soon as all is archived and mailed} other {Removed from {removeOn}}}: {accounts, plural, =0 {no account} one {one account} other {# accounts}}, {containers, plural, =0 {no container} one {one container} other {# containers}} and {homes, plural, =0 {no home} one {one home} other {# homes}}. Archives are kept until {keepUntil}.',
      'Container werden jetzt gestoppt und Home-Ordner archiviert. {isAtOnce, select, true {Entfernt, sobald alles archiviert und verschickt ist} other {Entfernt ab {removeOn}}}: {accounts, plural, =0 {kein Konto} one {ein Konto} other {# Konten}}, {containers, plural, =0 {kein Container} one {ein Container} other {# Container}} und {homes, plural, =0 {kein Home-Ordner} one {ein Home-Ordner} other {# Home-Ordner}}. Archive werden bis {keepUntil} aufbewahrt.',
    ],
    confirm: ['End the term', 'Kurs beenden'],
    busy: ['Starting…', 'Beginnt…'],
  },
  preview: {
    title: ['What will happen', 'Was geschehen wird'],
    accounts: [
      '{count, plural, =0 {no account is} one {one account is} other {# accounts are}} removed',
      '{count, plural, =0 {kein Konto wird} one {ein Konto wird} other {# Konten werden}} entfernt',
    ],
    staying: [
      '{count, plural, one {one member keeps the account} other {# members keep their accounts}}, and {count, plural, one {leaves} other {leave}} the group',
      '{count, plural, one {ein Mitglied behält sein Konto und verlässt} other {# Mitglieder behalten ihr Konto und verlassen}} die Gruppe',
    ],
    untouched: [
      '{count, plural, one {one member stays} other {# members stay}} as they are',
      '{count, plural, one {ein Mitglied bleibt} other {# Mitglieder bleiben}} wie bisher',
    ],
    homes: [
      '{count, plural, =0 {no home is} one {one home is} other {# homes are}} archived and removed, {bytes} as far as measured',
      '{count, plural, =0 {kein Home-Ordner wird} one {ein Home-Ordner wird} other {# Home-Ordner werden}} archiviert und entfernt, {bytes}, soweit gemessen',
    ],
    unknown: [
      '{count, plural, one {one home was} other {# homes were}} not measured yet',
      '{count, plural, one {ein Home-Ordner wurde} other {# Home-Ordner wurden}} noch nicht gemessen',
    ],
    room: ['{free} left on the disk of the archives', '{free} frei auf der Platte der Archive'],
    noRoom: [
      'The disk of the archives has too little room: {free} are left. Make room first.',
      'Auf der Platte der Archive ist zu wenig Platz: {free} sind frei. Schaffe zuerst Platz.',
    ],
    members: ['Members', 'Mitglieder'],
    none: ['The group has no members.', 'Die Gruppe hat keine Mitglieder.'],
  },
  outcome: {
    removed: ['Account is removed', 'Konto wird entfernt'],
    stays: ['Leaves the group', 'Verlässt die Gruppe'],
    untouched: ['Stays as it is', 'Bleibt wie bisher'],
  },
  reason: {
    option: ['accounts are kept', 'Konten bleiben'],
    group: ['is in another group', 'ist in einer anderen Gruppe'],
    container: ['has containers of other types', 'hat Container anderer Typen'],
    administrator: ['administrator', 'verwaltet diesen Dienst'],
    manager: ['manages the group', 'leitet die Gruppe'],
    blocked: ['blocked', 'gesperrt'],
  },
  archives: ['Archived and removed: {types}', 'Archiviert und entfernt: {types}'],
  keeps: ['Stays: {types}', 'Bleibt: {types}'],
  progress: {
    title: ['Progress', 'Wie weit es ist'],
    archiving: ['Homes are archived, and mails sent.', 'Home-Ordner werden archiviert und E-Mails verschickt.'],
    waiting: [
      'Everything is archived and mailed. The removal begins <at></at>.',
      'Alles ist archiviert und verschickt. Das Entfernen beginnt <at></at>.',
    ],
    removing: ['Containers, homes and accounts are removed.', 'Container, Home-Ordner und Konten werden entfernt.'],
    done: ['Done. Archives are kept until <at></at>.', 'Erledigt. Archive bleiben bis <at></at>.'],
    late: [
      'Archives were kept until <at></at>, which passed before all was removed. What was left stays as it is.',
      'Archive wurden bis <at></at> aufbewahrt; da war noch nicht alles entfernt. Was übrig war, bleibt.',
    ],
    disk: [
      'The disk of the archives is full. It goes on by itself when there is room.',
      'Die Platte der Archive ist voll. Sobald Platz ist, geht es von selbst weiter.',
    ],
    engine: [
      'The engine does not answer. It goes on by itself.',
      'Die Engine antwortet nicht. Es geht von selbst weiter.',
    ],
    administrator: [
      'The person who started it is no longer an administrator. Press "Go on" to take over responsibility for the rest.',
      'Wer es begonnen hat, ist kein Administrator mehr. Drücke „Weiter“, um den Rest zu verantworten.',
    ],
    startedBy: ['Started by {name} <at></at>', 'Begonnen von {name} <at></at>'],
    archives: [
      '{count, plural, one {one archive} other {# archives}}, {bytes}',
      '{count, plural, one {ein Archiv} other {# Archive}}, {bytes}',
    ],
    counts: ['Members by state', 'Mitglieder nach Stand'],
    members: ['Members affected', 'Betroffene Mitglieder'],
    downloads: [
      '{count, plural, =0 {not downloaded} one {downloaded once} other {downloaded # times}}',
      '{count, plural, =0 {nicht heruntergeladen} one {einmal heruntergeladen} other {#-mal heruntergeladen}}',
    ],
  },
  state: {
    waiting: ['Waits for the archive', 'Wartet auf das Archiv'],
    archived: ['Waits for the mail', 'Wartet auf die E-Mail'],
    mailed: ['Waits for the removal', 'Wartet auf das Entfernen'],
    done: ['Done', 'Erledigt'],
    kept: ['Kept', 'Behalten'],
    failed: ['Failed', 'Fehlgeschlagen'],
  },
  problem: {
    archive: ['the home could not be archived', 'der Home-Ordner ließ sich nicht archivieren'],
    mail: ['the mail was not accepted', 'die E-Mail wurde nicht angenommen'],
    removal: ['the removal failed', 'das Entfernen ist fehlgeschlagen'],
    changed: [
      'has left the group, become administrator or manager, or was blocked',
      'ist nicht mehr in der Gruppe, Administrator, leitet die Gruppe oder ist gesperrt',
    ],
    late: [
      'the date of the archives passed before the removal: account and home stay',
      'das Datum der Archive kam vor dem Entfernen: Konto und Home-Ordner bleiben',
    ],
  },
  cancel: {
    open: ['Cancel…', 'Abbrechen…'],
    title: ['Cancel the end of term?', 'Kursende abbrechen?'],
    effect: [
      'Nothing was removed yet. Archives are deleted, links lead nowhere, and the group ends when it did before.',
      'Noch wurde nichts entfernt. Archive werden gelöscht, Links führen ins Leere, und die Gruppe endet wie zuvor.',
    ],
    confirm: ['Cancel the end of term', 'Kursende abbrechen'],
    busy: ['Cancelling…', 'Wird abgebrochen…'],
  },
  retry: ['Go on', 'Weiter'],
} as const satisfies Texts
