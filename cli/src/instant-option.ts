import { WrongUsage } from './command-failure.ts'

/** Parser of an option with an instant, which the API gets as it is written. @throws {WrongUsage} from a call, when it is none */
export const instantOption =
  (option: string) =>
  (text: string): string => {
    if (!Number.isNaN(Date.parse(text))) return text
    throw new WrongUsage(`${option}: "${text}" is no instant such as 2027-10-31T00:00:00Z.`)
  }
