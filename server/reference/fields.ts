import type Type from 'typebox'
import {
  AdminContainer,
  AdminUser,
  HistorySample,
  ListedContainer,
  MailFailure,
} from '@berth/api/schemas/administration/admin.ts'
import { AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import { SessionEntry } from '@berth/api/schemas/sessions.ts'
import { ContainerEntry } from '@berth/api/schemas/user.ts'
import { code } from './markdown.ts'

/** The parts of JSON Schema that the schemas of the API use. */
interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly description?: string
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
}

/** Objects that several endpoints answer with. They have a table of their own, which the others link. */
export const sharedShapes: Readonly<Record<string, Type.TSchema>> = {
  User: AdminUser,
  Container: AdminContainer,
  ListedContainer,
  ContainerEntry,
  Session: SessionEntry,
  AuditEntry,
  MailFailure,
  HistorySample,
}

const nameOf = (schema: Schema): string | undefined =>
  Object.entries(sharedShapes).find(([, shape]) => shape === (schema as Type.TSchema))?.[0]

/** Rows of field, type and meaning; fields of objects inside follow theirs as `outer.inner`. */
export function fieldsOf(schema: Type.TSchema | undefined): string[][] {
  return rowsOf((schema ?? {}) as Schema, '')
}

function rowsOf(schema: Schema, prefix: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const isRequired = schema.required?.includes(name) ?? false
    const row = [code(prefix + name), `${typeOf(each)}${isRequired ? '' : ', optional'}`, meaningOf(each)]
    if (typeof each.additionalProperties === 'object')
      return [row, ...rowsOf(each.additionalProperties, `${prefix}${name}.*.`)]
    const inner = each.type === 'array' ? each.items : (each.anyOf?.find(({ properties }) => properties) ?? each)
    if (inner && nameOf(inner)) return [row]
    return [row, ...rowsOf(inner ?? {}, `${prefix}${name}${each.type === 'array' ? '[]' : ''}.`)]
  })
}

/** A schema in a few words, e.g. `integer or null`. */
export function typeOf(schema: Schema | Type.TSchema): string {
  const { anyOf, type, items, format, ...rest } = schema as Schema
  const name = nameOf(schema as Schema)
  if (name) return `[${name}](#${name.toLowerCase()})`
  if ('const' in rest) return code(JSON.stringify(rest.const))
  if (anyOf) return anyOf.map(typeOf).join(' or ')
  if (type === 'array') return `list of ${items ? typeOf(items) : 'values'}`
  if (format === 'date-time') return 'time'
  return type ?? 'any'
}

/** The description and the limits. */
function meaningOf({
  description,
  pattern,
  minimum,
  maximum,
  minLength,
  maxLength,
  minItems,
  maxItems,
}: Schema): string {
  const limits = [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' entries'),
    ...(pattern === undefined ? [] : [`matches ${code(pattern)}`]),
  ]
  return [description, limits.join('; ')].filter(Boolean).join('; ')
}

function range(min: number | undefined, max: number | undefined, unit: string): string[] {
  if (min === undefined && max === undefined) return []
  if (max === undefined) return [`at least ${min}${unit}`]
  return [min === undefined ? `at most ${max}${unit}` : `${min} to ${max}${unit}`]
}
