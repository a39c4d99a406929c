import { message, type LocalizedMessage } from '../../messages/localized-message.ts'

/** Those that have a meaning of their own: of shells and of the engine. */
const known = [0, 126, 127, 130, 132, 134, 136, 137, 139, 143] as const

/** Above 128 a shell, and the engine, report 128 and the number of the signal that ended a program. */
const [firstSignal, lastSignal] = [129, 192]

/** What a program's exit code says, as a sentence with the number for those who look it up. */
export function exitCodeInWords(code: number): LocalizedMessage {
  const meant = known.find((each) => each === code)
  if (meant !== undefined) return message(`pages.exit${meant}`, { code })
  return code >= firstSignal && code <= lastSignal
    ? message('pages.exitSignal', { signal: code - 128, code })
    : message('pages.exitOther', { code })
}
