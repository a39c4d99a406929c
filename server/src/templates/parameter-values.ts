import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { bad, isRecord, ok, type Read } from './field-values.ts'
import { problemOf, type Parameter, type Parameters, type ParameterValue } from './parameters.ts'

const types = ['choice', 'number', 'boolean', 'text'] as const
const keys = ['label', 'type', 'choices', 'default', 'min', 'max', 'env']
/** Variables that Berth sets in every container. */
const ownVariable = /^(BASE_PATH|PORT|BERTH_.*)$/
/** Characters of a text without `max`. */
const maxText = 1_000

/** The field `parameters`: a map of name to `{label, type, choices, default, min, max, env}`. */
export function parameterMap(value: unknown): Read<Parameters> {
  if (!isRecord(value)) return bad('must be a map of name to {label, type, choices, default, min, max, env}')
  const parameters: Record<string, Parameter> = {}
  for (const [name, fields] of Object.entries(value)) {
    if (!/^[A-Za-z][\w-]{0,62}$/.test(name))
      return bad(`has the name "${name.slice(0, 70)}"; names are a letter and at most 62 letters, digits, _ and -`)
    const read = parameterOf(name, fields)
    if ('problem' in read) return bad(`for ${name}: ${read.problem}`)
    const { env } = read.value
    if (Object.values(parameters).some((other) => other.env === env))
      return bad(`for ${name}: env ${env} is used twice`)
    parameters[name] = read.value
  }
  return ok(parameters)
}

function parameterOf(name: string, fields: unknown): Read<Parameter> {
  if (!isRecord(fields)) return bad('must be a map with label, type, choices, default, min, max, env')
  const unknown = Object.keys(fields).find((key) => !keys.includes(key))
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: ${keys.join(', ')}`)
  const { label = name, env } = fields
  const type = types.find((each) => each === fields.type)
  if (type === undefined) return bad(`type must be one of ${types.join(', ')}`)
  if (typeof label !== 'string' || label.trim() === '') return bad('label must be text')
  if (typeof env !== 'string' || !/^[A-Za-z_]\w*$/.test(env))
    return bad('env must be the name of a variable, e.g. SIZE')
  if (ownVariable.test(env)) return bad(`env ${env} is a variable that Berth sets itself`)
  const choices = choicesOf(type, fields.choices)
  if ('problem' in choices) return choices
  const limits = limitsOf(type, fields)
  if ('problem' in limits) return limits
  return withDefault(name, { label, type, env, choices: choices.value, ...limits.value }, fields.default)
}

function choicesOf(type: Parameter['type'], value: unknown): Read<readonly string[]> {
  if (type !== 'choice') return value === undefined ? ok([]) : bad('choices are for the type choice alone')
  const isList = Array.isArray(value) && value.length > 0 && value.every(isText)
  if (!isList) return bad('choices must be a list of at least one text; put numbers in quotes')
  return new Set(value).size === value.length ? ok(value) : bad('choices has one entry twice')
}

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0')

function limitsOf(
  type: Parameter['type'],
  { min, max }: Record<string, unknown>,
): Read<Pick<Parameter, 'min' | 'max'>> {
  const hasLimits = type === 'number' || type === 'text'
  for (const [key, limit] of Object.entries({ min, max })) {
    if (limit === undefined) continue
    if (!hasLimits) return bad(`${key} is for the types number and text alone`)
    if (typeof limit !== 'number' || !Number.isFinite(limit)) return bad(`${key} must be a number`)
    if (type === 'text' && (!Number.isInteger(limit) || limit < 0)) return bad(`${key} must be a number of characters`)
  }
  const limits = { min: (min as number) ?? null, max: (max as number) ?? (type === 'text' ? maxText : null) }
  return limits.min !== null && limits.max !== null && limits.min > limits.max
    ? bad(`min must not be greater than max, ${limits.max}`)
    : ok(limits)
}

function withDefault(name: string, fields: Omit<Parameter, 'default'>, value: unknown): Read<Parameter> {
  if (value === undefined && fields.type === 'text' && (fields.min ?? 0) > 0)
    return bad('needs a default: a text with min is never empty')
  const parameter = { ...fields, default: (value ?? defaultOf(fields)) as ParameterValue }
  const problem = value === null ? undefined : problemOf(name, parameter, parameter.default)
  if (value === null || problem)
    return bad(`default is not allowed${problem ? `: ${localize(defaultLanguage, problem)}` : ': it must not be null'}`)
  return ok(parameter)
}

/** Where the template has none: the first choice, the number nearest to 0, `false`, or an empty text. */
function defaultOf({ type, choices, min, max }: Omit<Parameter, 'default'>): ParameterValue | undefined {
  if (type === 'choice') return choices[0]
  if (type === 'number') return Math.min(Math.max(0, min ?? 0), max ?? Infinity)
  return type === 'boolean' ? false : ''
}
