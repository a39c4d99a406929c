import { refusals, type Refusal } from '#/refusals/errors.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'

export type ParameterValue = string | number | boolean
/** Values by name of the parameter. */
export type ParameterValues = Readonly<Record<string, ParameterValue>>

/** What a user may choose about a container when it is launched. */
export interface Parameter {
  readonly label: string
  readonly type: 'choice' | 'number' | 'boolean' | 'text'
  /** A choice has at least one; others have none. */
  readonly choices: readonly string[]
  /** What counts while nothing is chosen. */
  readonly default: ParameterValue
  /** Limits of a number, or of the length of a text in UTF-16 units; null: none. */
  readonly min: number | null
  readonly max: number | null
  /** Variable of the environment that has the value. */
  readonly env: string
}

export type Parameters = Readonly<Record<string, Parameter>>

/**
 * Refuses values that a template does not allow.
 * @throws {Refusal} 400 naming the first parameter that is not known, or has a value that is not allowed
 */
export function checkParameters(parameters: Parameters, chosen: ParameterValues): void {
  for (const [name, value] of Object.entries(chosen)) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (!parameter) throw unknownParameter(name, Object.keys(parameters))
    const problem = problemOf(name, parameter, value)
    if (problem) throw refusals.badParameter(problem)
  }
}

function unknownParameter(name: string, known: readonly string[]): Refusal {
  return refusals.badParameter(
    known.length === 0
      ? message('refusals.noParameters')
      : message('refusals.unknownParameter', { name: name.slice(0, 100), names: list('comma', known) }),
  )
}

/** Why a parameter cannot have this value; undefined if it can. */
export function problemOf(name: string, parameter: Parameter, value: ParameterValue): LocalizedMessage | undefined {
  switch (parameter.type) {
    case 'choice':
      return typeof value === 'string' && parameter.choices.includes(value)
        ? undefined
        : message('refusals.parameterChoice', { name, choices: list('comma', parameter.choices) })
    case 'boolean':
      return typeof value === 'boolean' ? undefined : message('refusals.parameterBoolean', { name })
    case 'number':
      return Number.isFinite(value)
        ? outside(parameter, Number(value), (limit, key) => message(`refusals.parameter${key}`, { name, limit }))
        : message('refusals.parameterNumber', { name })
    case 'text':
      // The environment of a process cannot hold the character NUL.
      return typeof value === 'string' && !value.includes('\0')
        ? outside(parameter, value.length, (limit, key) => message(`refusals.parameter${key}Length`, { name, limit }))
        : message('refusals.parameterText', { name })
  }
}

function outside(
  { min, max }: Parameter,
  size: number,
  words: (limit: string, key: 'Min' | 'Max') => LocalizedMessage,
): LocalizedMessage | undefined {
  if (min !== null && size < min) return words(String(min), 'Min')
  return max !== null && size > max ? words(String(max), 'Max') : undefined
}

/** What each parameter is: what was chosen, or the default where nothing was or the template does not allow it any more. */
export function valuesOf(parameters: Parameters, chosen: ParameterValues): ParameterValues {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, parameter]) => {
      const value = Object.hasOwn(chosen, name) ? chosen[name] : undefined
      const isAllowed = value !== undefined && problemOf(name, parameter, value) === undefined
      return [name, isAllowed ? value : parameter.default]
    }),
  )
}

/** The values as variables of the environment; a boolean is `true` or `false`. */
export function parameterEnv(parameters: Parameters, chosen: ParameterValues): Record<string, string> {
  const values = valuesOf(parameters, chosen)
  return Object.fromEntries(Object.entries(parameters).map(([name, { env }]) => [env, String(values[name])]))
}

/** Whether a container with the ones has another environment than one with the others. */
export const areOthers = (parameters: Parameters, one: ParameterValues, other: ParameterValues) =>
  JSON.stringify(parameterEnv(parameters, one)) !== JSON.stringify(parameterEnv(parameters, other))
