import type { Texts } from '#/i18n/texts.ts'

/** Text of the page of one's own SSH keys. */
export const sshKeys = {
  title: ['SSH keys', 'SSH-Schlüssel'],
  lead: [
    'With a key of yours you reach your containers by ssh, scp and sftp, and by the editor on your own desk.',
    'Mit einem Schlüssel erreichst du deine Container mit ssh, scp und sftp, und mit dem Editor auf deinem eigenen Rechner.',
  ],
  how: [
    'How to connect is on the card of each container: “Connect”.',
    'Wie du dich verbindest, steht auf der Karte jedes Containers: „Verbinden“.',
  ],
  none: ['You have no SSH keys.', 'Du hast keine SSH-Schlüssel.'],
  added: ['Added <at></at>', 'Hinzugefügt <at></at>'],
  used: ['last used <at></at>', 'zuletzt benutzt <at></at>'],
  unused: ['never used', 'nie benutzt'],
  remove: ['Remove', 'Entfernen'],
  removeThis: ['Remove the SSH key: {title}', 'SSH-Schlüssel entfernen: {title}'],
  removed: ['The SSH key is removed.', 'Der SSH-Schlüssel ist entfernt.'],
  ask: {
    title: ['Remove the SSH key {title}?', 'SSH-Schlüssel {title} entfernen?'],
    effect: [
      'Sessions that began with it are ended at once.',
      'Sitzungen, die mit ihm begonnen haben, werden sofort beendet.',
    ],
  },
  add: {
    title: ['Add a key', 'Schlüssel hinzufügen'],
    key: ['Public key', 'Öffentlicher Schlüssel'],
    keyHint: [
      'The one line of a file whose name ends with .pub, such as ~/.ssh/id_ed25519.pub. If there is none, make one:',
      'Die eine Zeile einer Datei, deren Name mit .pub endet, etwa ~/.ssh/id_ed25519.pub. Gibt es keine, dann erzeuge eine:',
    ],
    keyMissing: ['Paste the line of your public key.', 'Füge die Zeile deines öffentlichen Schlüssels ein.'],
    name: ['Title', 'Titel'],
    nameHint: [
      'What the key is, such as the computer that it is on. Without one, its own comment is taken.',
      'Was das für ein Schlüssel ist, etwa der Rechner, auf dem er liegt. Ohne Titel gilt sein eigener Kommentar.',
    ],
    button: ['Add the key', 'Schlüssel hinzufügen'],
    busy: ['Adding…', 'Wird hinzugefügt…'],
    notNow: [
      'During a takeover no SSH keys can be added or removed.',
      'Während einer Übernahme können keine SSH-Schlüssel hinzugefügt oder entfernt werden.',
    ],
  },
} as const satisfies Texts
