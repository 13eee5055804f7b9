/** Which rows of a list a call asks for. */
export interface Page {
  index: number;
  size: number;
  offset: number;
}
