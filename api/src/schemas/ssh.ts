import Type from 'typebox'
import { Instant, OrNull, onePlainLine } from './shapes.ts'

/** The SSH server, as clients reach it. */
export const SshServerResponse = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  host_keys: Type.Array(Type.String(), { description: 'Lines for `known_hosts`' }),
})

/** Any text: ids that are not 1 to 15 digits are answered with 404 by the handlers. */
export const SshKeyParams = Type.Object({ id: Type.String() })

export const SshKeyBody = Type.Object({
  title: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${onePlainLine}$`,
      description: 'What the key is; without one, its own comment is taken',
    }),
  ),
  key: Type.String({
    minLength: 1,
    maxLength: 16_384,
    description: 'A line of a file with the ending `.pub`: ed25519, ecdsa, rsa from 2,048 bits, and their `sk-` forms',
  }),
})

/** A public key for SSH. */
export const SshKey = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  type: Type.String({ description: 'Such as `ssh-ed25519`' }),
  fingerprint: Type.String({ description: 'SHA-256 of the key, as `ssh-keygen -l` prints it' }),
  created_at: Instant,
  last_used: OrNull(Instant, { description: 'To the minute; null if it was never used' }),
})
export type SshKey = Type.Static<typeof SshKey>

export const SshKeysResponse = Type.Object({ keys: Type.Array(SshKey, { description: 'Newest first; at most 20' }) })
