import type { English } from '@berth/texts/catalogue.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'

type FaultStatus = 400 | 405 | 431 | 501 | 505

/** Names of faults that need no numbers. */
export type FaultKey = Exclude<keyof English['faults'], 'tooManyHeaders'>

/** What is wrong with a message, and the status that says so to a client. */
export class HttpFault {
  readonly status: FaultStatus
  readonly why: LocalizedMessage

  constructor(why: LocalizedMessage, status: FaultStatus) {
    this.why = why
    this.status = status
  }
}

export const fault = (why: FaultKey, status: FaultStatus = 400) => new HttpFault(message(`faults.${why}`), status)

export const isFault = (read: unknown): read is HttpFault => read instanceof HttpFault
