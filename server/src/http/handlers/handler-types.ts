import type {
  Answer,
  Body,
  EndpointName,
  FileName,
  JsonName,
  Params,
  Query,
  RedirectName,
  StreamName,
} from '@berth/api/endpoints.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import type { ClientInfo } from '#/accounts/actor.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import type { EventStream } from '../event-stream.ts'

/** Input of a handler: the parts that its row of the endpoint table names, already validated, and the caller. */
export interface Call<N extends EndpointName> {
  readonly params: Params<N>
  readonly query: Query<N>
  readonly body: Body<N>
  /** Present for endpoints with access `user` and `admin`. */
  readonly session: Session | undefined
  /** Name of the operator, when the request comes from the command line. */
  readonly operator: string | undefined
  readonly client: ClientInfo
  readonly now: Date
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** One handler per endpoint of the table; a missing or misspelt one does not compile. */
export type Handlers = { [N in JsonName]: (call: Call<N>) => Answer<N> | Promise<Answer<N>> } & {
  [N in StreamName]: (call: Call<N>) => EventStream | Promise<EventStream>
} & {
  [N in FileName]: (call: Call<N>) => Readable | Promise<Readable>
} & {
  [N in RedirectName]: (call: Call<N>) => Redirect | Promise<Redirect>
}

/** Answers 302. */
export interface Redirect {
  /** A path of the front end, or an address of ours or of a provider; never what a request said, unchecked. */
  readonly location: string
}
