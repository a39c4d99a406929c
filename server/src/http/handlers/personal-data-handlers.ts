import { Readable } from 'node:stream'
import type { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'
import type { FastifyReply } from 'fastify'
import type { PersonalData } from '#/accounts/personal-data.ts'
import { actorOf, ownSessionOf, userOf } from '#/http/auth/caller.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'

/** What is kept about a user: for the user, and for the operator. */
export function personalDataHandlers(personalData: PersonalData): Pick<Handlers, 'exportOwnData' | 'exportUserData'> {
  return {
    exportOwnData: async (call) => {
      ownSessionOf(call)
      return streamed(call.reply, await personalData.export(userOf(call).id, call.now))
    },
    exportUserData: async (call) => {
      const id = readId(call.params.id, 'user')
      return streamed(call.reply, await personalData.exportFor(actorOf(call), id, call.now))
    },
  }
}

/** Pieces of JSON are sent as they are read; the schema of the answer describes what they mean. */
function streamed(reply: FastifyReply, pieces: AsyncGenerator<string>): PersonalDataResponse {
  void reply.type('application/json; charset=utf-8')
  return Readable.from(pieces, { objectMode: false }) as unknown as PersonalDataResponse
}
