import type { SshKey } from '@berth/api/schemas/ssh.ts'
import { Refused, type Story } from '../story.ts'
import { ann, minutesAgo } from '../user-fixtures.ts'

const day = 60 * 24
const laptop: SshKey = {
  id: 4,
  title: 'ann@laptop',
  type: 'ssh-ed25519',
  fingerprint: 'SHA256:mVPwvezndPv/ARoIadVY98vAC0g+P/5633yTC4d/wXE',
  created_at: minutesAgo(12 * day),
  last_used: minutesAgo(40),
}
const keys: SshKey[] = [
  laptop,
  {
    ...laptop,
    id: 2,
    title: 'Security key of the institute of applied mathematics',
    last_used: null,
    type: 'sk-ssh-ed25519@openssh.com',
  },
]
const page = { path: '/ssh-keys', boot: { has_ssh: true }, answers: { me: ann, listSshKeys: { keys } } }
const unreadable = 'This is not a public SSH key. Paste the one line of a file whose name ends with .pub.'

/** Pages about SSH, which are there with `SSH_LISTEN`. */
export const sshStories: readonly Story[] = [
  { name: 'ssh-keys/many', ...page },
  { name: 'ssh-keys/none', ...page, answers: { me: ann, listSshKeys: { keys: [] } } },
  {
    name: 'ssh-keys/refused',
    ...page,
    answers: { ...page.answers, addSshKey: new Refused(400, unreadable) },
    press: ['Public key = hello', 'Add the key'],
  },
]
