import type { Texts } from '#/i18n/texts.ts'

/** Words of the page about shared containers. */
export const sharing = {
  title: ['Shared containers', 'Geteilte Container'],
  lead: [
    'Let others look at or use one of your containers until a date. They open its address, signed in to their own account.',
    'Lass andere einen deiner Container ansehen oder benutzen, bis zu einem Datum. Sie öffnen seine Adresse, angemeldet mit ihrem eigenen Konto.',
  ],
  off: ['Sharing is switched off here.', 'Container lassen sich hier nicht teilen: Das ist nicht eingeschaltet.'],
  withMe: ['Shared with you', 'Mit dir geteilt'],
  of: ['{name} of {owner}', '{name} von {owner}'],
  open: ['Open', 'Öffnen'],
  nothingLaunched: [
    'Launch a container first: then you can share it.',
    'Starte zuerst einen Container: Dann kannst du ihn teilen.',
  ],
  notShared: ['Shared with no one.', 'Mit niemandem geteilt.'],
  group: ['Group {name}', 'Gruppe {name}'],
  here: ['here now', 'jetzt da'],
  askedIn: ['Manages {group} and asked to look', 'Leitet {group} und hat gefragt'],
  inNow: ['<email></email> is here, since <at></at>', '<email></email> ist da, seit <at></at>'],
  look: ['Looks until <at></at>', 'Darf ansehen bis <at></at>'],
  use: ['Uses it until <at></at>', 'Darf benutzen bis <at></at>'],
  portAlone: ['Only port {port}', 'Nur Port {port}'],
  end: ['End', 'Beenden'],
  endThis: ['End the share with {name}', 'Freigabe für {name} beenden'],
  share: ['Share', 'Teilen'],
  shareThis: ['Share {name}', '{name} teilen'],
  singlePagesForYou: [
    'Single pages work. Most applications stay empty, because visitors may load no scripts and styles.',
    'Einzelne Seiten funktionieren. Die meisten Anwendungen bleiben leer, weil Besucher keine Skripte und Stile laden dürfen.',
  ],
  shared: ['{name} is shared now.', '{name} ist jetzt geteilt.'],
  ended: ['{name} no longer has access.', 'Die Freigabe für {name} ist beendet.'],
  looks: {
    ask: ['<b>{by}</b> ({group}) asks to look at {name}.', '<b>{by}</b> ({group}) möchte {name} ansehen.'],
    effect: [
      'If you agree, they can read what the app shows for at most an hour. You can end it at any time.',
      'Stimmst du zu, kann die Person lesen, was die Anwendung zeigt, höchstens eine Stunde lang. Du beendest es mit einem Klick.',
    ],
    agree: ['Let them look', 'Ansehen lassen'],
    decline: ['Decline', 'Ablehnen'],
    open: [
      '<b>{by}</b> ({group}) may look at {name} until {at}.',
      '<b>{by}</b> ({group}) darf {name} bis {at} ansehen.',
    ],
    here: ['here now', 'gerade da'],
    end: ['End their access', 'Ansehen beenden'],
  },
  form: {
    title: ['Share {name}', '{name} teilen'],
    emails: ['E-mail addresses', 'E-Mail-Adressen'],
    hint: [
      'Separated by spaces, commas or line breaks. No mail is sent.',
      'Getrennt durch Leerzeichen, Kommas oder Zeilen. Es wird keine E-Mail verschickt.',
    ],
    tell: ['Tell them the address of your container:', 'Sag ihnen die Adresse deines Containers:'],
    singlePages: [
      'Most applications, such as editors and notebooks, will stay empty for the people you share with. They get a page without the scripts, styles and images that it loads from the container, so only single pages work. Your administrator can change that by giving each container its own host.',
      'Die meisten Anwendungen, etwa Editoren und Notebooks, bleiben für die Leute leer, mit denen du teilst. Sie bekommen eine Seite ohne die Skripte, Stile und Bilder, die sie aus dem Container lädt; nur einzelne Seiten funktionieren. Dein Administrator kann das ändern, indem jeder Container einen eigenen Host bekommt.',
    ],
    group: ['Or a group that you are in', 'Oder eine Gruppe, in der du bist'],
    noGroup: ['No group', 'Keine Gruppe'],
    may: ['They may', 'Sie dürfen'],
    look: ['look', 'ansehen'],
    use: ['use it', 'benutzen'],
    mayHint: [
      'Looking means reading: requests that change something, and WebSockets, are refused, so terminals and notebooks do not run. Some apps change something when a page is merely opened. Using means all that you can do there: read, change and delete files, run programs, and take secrets of the container.',
      'Wer ansieht, kann lesen: Anfragen, die etwas ändern, und WebSockets werden abgelehnt; Terminals und Notebooks laufen also nicht. Manche Anwendungen ändern schon beim Öffnen einer Seite etwas. Wer benutzt, kann dort alles, was du kannst: Dateien lesen, ändern und löschen, Programme ausführen und Geheimnisse des Containers mitnehmen.',
    ],
    port: ['Port', 'Port'],
    portHint: [
      'Leave empty to share what opens with the container. With a number, such as 3000, only that port is shared.',
      'Leer: was sich mit dem Container öffnet. Mit einer Nummer wie 3000 dieser Port und sonst nichts.',
    ],
    badPort: ['Enter a port from 1024 to 65535, or nothing.', 'Gib einen Port von 1024 bis 65535 ein, oder nichts.'],
    until: ['Until', 'Bis'],
    missing: ['Enter an address, or choose a group.', 'Gib eine Adresse ein oder wähle eine Gruppe.'],
    endMissing: ['Choose when it ends.', 'Wähle, wann es endet.'],
    button: ['Share', 'Teilen'],
    busy: ['Sharing…', 'Wird geteilt…'],
  },
} as const satisfies Texts
