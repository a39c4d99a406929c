import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Text of the page of one's own SSH keys. */
export const sshKeys = {
  title: 'SSH keys',
  lead: 'With a key of yours you reach your containers by ssh, scp and sftp, and by the editor on your own desk.',
  how: 'How to connect is on the card of each container: “Connect”.',
  loading: 'Loading your SSH keys…',
  none: 'You have no SSH keys.',
  added: 'Added <at></at>',
  used: 'last used <at></at>',
  unused: 'never used',
  remove: 'Remove',
  removeThis: 'Remove the SSH key: {title}',
  removed: 'The SSH key is removed.',
  ask: {
    title: 'Remove the SSH key {title}?',
    effect: 'Sessions that began with it are ended at once.',
    cancel: 'Cancel',
  },
  add: {
    title: 'Add a key',
    key: 'Public key',
    keyHint:
      'The one line of a file whose name ends with .pub, such as ~/.ssh/id_ed25519.pub. If there is none, make one:',
    keyMissing: 'Paste the line of your public key.',
    name: 'Title',
    nameHint: 'What the key is, such as the computer that it is on. Without one, its own comment is taken.',
    button: 'Add the key',
    busy: 'Adding…',
    notNow: 'During a takeover no SSH keys can be added or removed.',
  },
} as const

export const germanSshKeys: InOtherWords<typeof sshKeys> = {
  title: 'SSH-Schlüssel',
  lead: 'Mit einem Schlüssel erreichst du deine Container mit ssh, scp und sftp, und mit dem Editor auf deinem eigenen Rechner.',
  how: 'Wie du dich verbindest, steht auf der Karte jedes Containers: „Verbinden“.',
  loading: 'Deine SSH-Schlüssel werden geladen…',
  none: 'Du hast keine SSH-Schlüssel.',
  added: 'Hinzugefügt <at></at>',
  used: 'zuletzt benutzt <at></at>',
  unused: 'nie benutzt',
  remove: 'Entfernen',
  removeThis: 'SSH-Schlüssel entfernen: {title}',
  removed: 'Der SSH-Schlüssel ist entfernt.',
  ask: {
    title: 'SSH-Schlüssel {title} entfernen?',
    effect: 'Sitzungen, die mit ihm begonnen haben, werden sofort beendet.',
    cancel: 'Abbrechen',
  },
  add: {
    title: 'Schlüssel hinzufügen',
    key: 'Öffentlicher Schlüssel',
    keyHint:
      'Die eine Zeile einer Datei, deren Name mit .pub endet, etwa ~/.ssh/id_ed25519.pub. Gibt es keine, dann erzeuge eine:',
    keyMissing: 'Füge die Zeile deines öffentlichen Schlüssels ein.',
    name: 'Titel',
    nameHint:
      'Was das für ein Schlüssel ist, etwa der Rechner, auf dem er liegt. Ohne Titel gilt sein eigener Kommentar.',
    button: 'Schlüssel hinzufügen',
    busy: 'Wird hinzugefügt…',
    notNow: 'Während einer Übernahme können keine SSH-Schlüssel hinzugefügt oder entfernt werden.',
  },
}
