import type { RotateKeys } from '#/administration/rotate-keys.ts'
import type { Handlers } from '#/http/handlers.ts'
import { actorOf } from '#/http/session-of.ts'
import { told } from '#/http/told.ts'
import { message } from '#/messages/message.ts'

export interface KeyParts {
  readonly rotateKeys: RotateKeys
}

export function keyHandlers({ rotateKeys }: KeyParts): Pick<Handlers, 'rotateKeys'> {
  return {
    rotateKeys: async (call) => {
      const { kid, retired } = await rotateKeys.run(actorOf(call), call.now)
      return {
        message: told(call, message('answers.keyRotated')),
        kid,
        retired: retired.map((each) => ({ kid: each.kid, until: each.until.toISOString() })),
      }
    },
  }
}
