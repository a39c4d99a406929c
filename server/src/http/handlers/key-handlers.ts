import type { RotateKeys } from '#/admin/operator-actions.ts'
import type { Handlers } from './handler-types.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface KeyParts {
  readonly rotateKeys: RotateKeys
}

export function keyHandlers({ rotateKeys }: KeyParts): Pick<Handlers, 'rotateKeys'> {
  return {
    rotateKeys: async (call) => {
      const { kid, retired } = await rotateKeys.run(actorOf(call), call.now)
      return {
        message: localizedReply(call, message('answers.keyRotated')),
        kid,
        retired: retired.map((each) => ({ kid: each.kid, until: each.until.toISOString() })),
      }
    },
  }
}
