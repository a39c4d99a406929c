import type { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'

type Lists = {
  readonly [
    K in keyof PersonalDataResponse as PersonalDataResponse[K] extends readonly unknown[] ? K : never
  ]: PersonalDataResponse[K] extends readonly (infer Row)[] ? Row : never
}

/** The lists of the document; each with the rows that the API describes. */
export type PersonalSections = { readonly [K in keyof Lists]: AsyncIterable<Lists[K]> }

/** How long what is kept, in seconds, as the document says. */
export type RetentionTimes = PersonalDataResponse['kept_for']
