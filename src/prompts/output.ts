/** Where rendered text goes: plain text, or text that is to be JSON. */

export interface Output {
  /** Text of the template itself. */
  literal(text: string): void;
  /** Text that a variable brought. */
  value(text: string): void;
  /** Renders a partial at this place. */
  nested(render: (inner: Output) => void): void;
}

export class TextOutput implements Output {
  text = '';

  literal(text: string): void {
    this.text += text;
  }

  value(text: string): void {
    this.text += text;
  }

  nested(render: (inner: Output) => void): void {
    render(this);
  }
}

/** Knows whether the text so far ends inside a string literal: there, what is inserted can only become more of that string. */
export class JsonOutput implements Output {
  text = '';
  #inString = false;
  #escaped = false;

  literal(text: string): void {
    this.text += text;
    this.#follow(text);
  }

  value(text: string): void {
    if (this.#inString) this.text += escaped(text);
    else this.literal(text);
  }

  /** Inside a string a partial is text like any other; elsewhere it is part of the JSON. */
  nested(render: (inner: Output) => void): void {
    if (!this.#inString) {
      render(this);
      return;
    }
    const inner = new TextOutput();
    render(inner);
    this.text += escaped(inner.text);
  }

  #follow(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (code === 0x22) this.#inString = !this.#inString;
      else if (code === 0x5c && this.#inString) this.#escaped = true;
    }
  }
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
