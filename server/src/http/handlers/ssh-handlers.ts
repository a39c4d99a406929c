import { Readable } from 'node:stream'
import { endpoints } from '@berth/api/endpoints.ts'
import type { SshKey } from '@berth/api/schemas/ssh.ts'
import { message } from '@berth/texts/localized-message.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import type { Ssh } from '#/ssh/open-ssh.ts'
import type { StoredSshKey } from '#/store/ssh-keys.ts'
import { ownSessionOf, ownerOf, readId, userOf, type Handlers } from './call.ts'

/** SSH: the server's address, and the keys of the signed-in user. */
export function sshHandlers(ssh: Ssh) {
  return {
    sshServer: () => {
      const { host, port, hostKeys } = ssh.address()
      return { host, port, host_keys: [...hostKeys] }
    },
    listSshKeys: async (call) => ({ keys: (await ssh.keys.list(userOf(call).id)).map(toSshKey) }),
    addSshKey: async (call) => {
      ownSessionOf(call)
      const { title = '', key } = call.body
      const owner = { ...ownerOf(call), language: call.client.language }
      return toSshKey(await ssh.keys.add(owner, title, key, call.now))
    },
    removeSshKey: async (call) => {
      ownSessionOf(call)
      await ssh.keys.remove(ownerOf(call), readId(call.params.id, 'sshKey'), call.now)
      return { message: localizedReply(call, message('ssh.keyRemoved')) }
    },
    sshConfig: async (call) => {
      const config = await ssh.clientConfig(userOf(call))
      void call.reply.header('content-type', endpoints.sshConfig.file)
      return Readable.from([config])
    },
  } satisfies Partial<Handlers>
}

const toSshKey = ({ id, title, type, fingerprint, createdAt, lastUsed }: StoredSshKey): SshKey => ({
  id,
  title,
  type,
  fingerprint,
  created_at: createdAt.toISOString(),
  last_used: lastUsed?.toISOString() ?? null,
})
