/** The shape of a text in another language: it has the keys of English, with its own sentences. */
export type InOtherWords<T> = { readonly [K in keyof T]: T[K] extends string ? string : InOtherWords<T[K]> }
