/** Types of columns that both engines store and sort alike. */

/** RFC 3339 in UTC. */
export type Timestamp = string;
export type Flag = 0 | 1;
