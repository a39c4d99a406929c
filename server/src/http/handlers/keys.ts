import type { RotateKeys } from '#/administration/rotate-keys.ts'
import type { Handlers } from '#/http/handlers.ts'
import { actorOf } from '#/http/session-of.ts'

export interface KeyParts {
  readonly rotateKeys: RotateKeys
}

export function keyHandlers({ rotateKeys }: KeyParts): Pick<Handlers, 'rotateKeys'> {
  return {
    rotateKeys: async (call) => {
      const { kid, retired } = await rotateKeys.run(actorOf(call), call.now)
      return {
        message: 'New tokens are signed with the new key; nobody is signed out.',
        kid,
        retired: retired.map((each) => ({ kid: each.kid, until: each.until.toISOString() })),
      }
    },
  }
}
