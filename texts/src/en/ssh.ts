/** SSH: keys, mails, and lines in a terminal. */
export const ssh = {
  unreadableKey:
    'This is not a public SSH key. Paste the one line of a file whose name ends with .pub, such as ~/.ssh/id_ed25519.pub.',
  typeKey: 'Keys of this type are not accepted. Make another one: ssh-keygen -t ed25519',
  smallKey: 'This RSA key has fewer than 2,048 bits. Make another one: ssh-keygen -t ed25519',
  largeKey: 'This RSA key has more than 8,192 bits. Make another one: ssh-keygen -t ed25519',
  privateKey:
    'This is a private key, which you alone may have. Make another pair, and paste the line of the file whose name ends with .pub.',
  knownKey: 'You have this key already.',
  tooManyKeys: 'You have {max} SSH keys already, as many as you may. Remove one first.',
  keyRemoved: 'The SSH key is removed.',
  mailSubject: 'A new SSH key for your account at {product}',
  mailIntro:
    'The SSH key "{title}" was added to your account at {product}, from the address {address}. Its fingerprint: {fingerprint}',
  mailButton: 'Look at your SSH keys',
  mailRemove:
    'If it was not you: remove the key there, and end all other sessions. Who has the key reaches your containers.',
  mailWhy: 'You get this mail because {to} is the address of the account at {product}.',
  blocked: 'Your account is blocked. Ask an administrator.',
  tooManySessions: 'You have {max} SSH sessions already, as many as you may. End one first.',
  tooManySessionsOfAll: 'The SSH server has as many sessions as it may. Try again later.',
  engineFailed: 'The container cannot be reached now. Try again in a moment.',
  noTool:
    'This container was made without what SSH needs: by an earlier version, or while the engine was busy. Restart it on its page, and connect again.',
  containerStopped: 'The container was stopped.',
  containerIdle: 'The container was stopped, because it was not used or its time was over. Connect again to start it.',
  containerEvicted: 'The cluster ended the container. Connect again to start it.',
  containerBlocked: 'The container was blocked by an administrator.',
  containerFailed: 'The program of the container has ended.',
  containerGone: 'The container was removed.',
  accessEnded: 'Your account was blocked, or is removed.',
  keyEnded: 'The key of this session was removed.',
  serverStops: 'Berth is being restarted. Connect again in a moment.',
} as const
