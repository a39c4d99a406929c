/** Who a path of a template is for. */
export interface PathOwner {
  readonly userId: number
  readonly slug: string
}

const placeholders = ['{slug}', '{user_id}']

/** What is wrong with the braces of a path; undefined when there are no others than those of placeholders. */
export function placeholderProblem(path: string): string | undefined {
  const rest = placeholders.reduce((text, each) => text.replaceAll(each, ''), path)
  return /[{}]/.test(rest) ? `has a brace that is none of ${placeholders.join(' and ')}` : undefined
}

export const hasPlaceholder = (path: string): boolean => placeholders.some((each) => path.includes(each))

/** The path of one person. A slug has small letters and digits alone, so that no path leads out of its folder by it. */
export const personalPath = (path: string, { userId, slug }: PathOwner): string =>
  path.replaceAll('{slug}', slug).replaceAll('{user_id}', String(userId))

/** The folder above the first part that is different for each person: what can be looked at before a person is known. */
export function commonFolder(path: string): string {
  const parts = path.split('/')
  const first = parts.findIndex(hasPlaceholder)
  return first < 0 ? path : parts.slice(0, first).join('/') || '/'
}

/**
 * Whether a path may be the same as, or below, one of another person: a part with a placeholder stands for any name.
 * @param isStrict the same path does not count
 */
export function mayBeBelow(path: string, folder: string, isStrict = false): boolean {
  if (isStrict && path === folder) return false
  const [parts, above] = [partsOf(path), partsOf(folder)]
  return above.length <= parts.length && above.every((part, at) => isSamePart(part, parts[at] ?? ''))
}

const partsOf = (path: string) => path.split('/').filter((part) => part !== '')

const isSamePart = (one: string, other: string) => one === other || hasPlaceholder(one) || hasPlaceholder(other)
