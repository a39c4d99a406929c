/** An instant as people read it: to the minute, in UTC like the log. */
export const instant = (text: string | null) => (text === null ? 'never' : text.slice(0, 16).replace('T', ' '))

export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

export const yesNo = (is: boolean) => (is ? 'yes' : 'no')
