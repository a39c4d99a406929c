/** An instant as people read it: to the minute, in UTC like the log. */
export const formatInstant = (text: string | null) => (text === null ? 'never' : text.slice(0, 16).replace('T', ' '))

export const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

export const formatBoolean = (is: boolean) => (is ? 'yes' : 'no')
