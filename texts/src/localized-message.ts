import type { ICUArgs } from 'use-intl/core'
import type { Area, English } from './english.ts'

/** Names a message: area and key, e.g. `refusals.noToken`. */
export type MessageKey = { [A in Area]: `${A}.${keyof English[A] & string}` }[Area]

type TextOf<K extends MessageKey> = K extends `${infer A extends Area}.${infer Name}`
  ? Name extends keyof English[A]
    ? English[A][Name] & string
    : never
  : never

/** What may stand in the place of an argument; a message in there is said in the language of the whole. */
export type Value = string | number | LocalizedMessage

/** Arguments of a message by name, read off its English text. */
export type ValuesOf<K extends MessageKey> = ICUArgs<
  TextOf<K>,
  { ICUArgument: Value; ICUNumberArgument: number; ICUDateArgument: Date }
>

/**
 * Something to be said to a person whose language is not known yet: the key of a message, and what stands in it. It is
 * localized at the edge, by `localize`; in the gateway process by `gateway/src/pages/localize-plain.ts`. Nothing in it
 * is secret: it may be logged.
 */
export class LocalizedMessage {
  readonly key: MessageKey
  readonly values: Readonly<Record<string, Value>>

  /** @param values not checked against the message: see `message` */
  constructor(key: MessageKey, values: Readonly<Record<string, Value>>) {
    this.key = key
    this.values = values
  }
}

/** A message with exactly the values that its text asks for. */
export function message<K extends MessageKey>(
  key: K,
  ...[values]: Record<never, never> extends ValuesOf<K> ? [] : [ValuesOf<K>]
): LocalizedMessage {
  return new LocalizedMessage(key, (values ?? {}) as Record<string, Value>)
}

/** `a, b, c`, or with something else in between; an empty list gives an empty text. */
export function list(
  between: 'and' | 'comma' | 'semicolon' | 'nothing',
  [first = '', ...rest]: readonly Value[],
): Value {
  return rest.reduce((one, other) => message(`words.${between}`, { one, other }), first)
}

const [MiB, GiB] = [1024 ** 2, 1024 ** 3]

/** A number of bytes as people read it: `312 MiB`, `1.5 GiB`. */
export const formatBytes = (bytes: number): LocalizedMessage =>
  bytes >= GiB ? message('words.gib', { count: bytes / GiB }) : message('words.mib', { count: Math.round(bytes / MiB) })
